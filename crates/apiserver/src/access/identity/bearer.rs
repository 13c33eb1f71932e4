//! Authenticates bearer tokens: registered ones, and those of service accounts.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use crate::access::tokens::{Claims, Reference, SecretClaims, VerifiedClaims, VerifyError, username};
use crate::call::{self, User};
use crate::object::meta;
use crate::state::ServerState;

/// The result of a successful authentication.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AuthenticatedUser {
    /// The user.
    pub(crate) user: User,
    /// The requested audiences that the token is valid for; at least one.
    pub(crate) audiences: Vec<String>,
}

/// Reason why a token is invalid, as a TokenReview reports it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct InvalidToken(pub(crate) String);

/// How long a token remains valid after its account or bound object was deleted.
const DELETION_LEEWAY: SignedDuration = SignedDuration::from_secs(60);
/// The tolerated clock skew, in seconds.
const LEEWAY: i64 = 60;

/// Authenticates a token for one of these audiences; without audiences, for this server.
pub(crate) fn authenticate(
    shared: &ServerState,
    token: &str,
    wanted: &[String],
) -> Result<AuthenticatedUser, InvalidToken> {
    let own = &shared.tokens.audiences;
    let wanted = if wanted.is_empty() { own } else { wanted };
    // Registered tokens have no audiences: they are valid for this server.
    if let (Some(user), Ok(audiences)) =
        (shared.tokens.registered_user(token), matching_audiences(own, wanted))
    {
        return Ok(AuthenticatedUser { user, audiences });
    }
    let checked = match shared.tokens.verify(token) {
        Ok(claims) => match &*claims {
            VerifiedClaims::Bound(claims) => check_bound_token(shared, claims, wanted),
            VerifiedClaims::Secret(claims) => check_secret_token(shared, token, claims, wanted),
        },
        Err(error @ VerifyError::Issuer) => return Err(InvalidToken(error.to_string())),
        Err(error @ VerifyError::Signature(_)) => Err(error.to_string()),
    };
    checked.map_err(|why| wrap_error(&why))
}

/// kube-apiserver tries several authenticators and reports the errors of all.
fn wrap_error(why: &str) -> InvalidToken {
    InvalidToken(format!("[invalid bearer token, {why}]"))
}

/// Whether a token with a valid signature is valid now: its time, its account, its bound object.
fn check_bound_token(
    shared: &ServerState,
    claims: &Claims,
    wanted: &[String],
) -> Result<AuthenticatedUser, String> {
    let audiences = matching_audiences(&claims.aud, wanted)?;
    let now = shared.clock.now();
    if now.as_second() - LEEWAY > claims.exp {
        return Err("service account token has expired".to_owned());
    }
    if now.as_second() + LEEWAY < claims.nbf {
        return Err("service account token is not valid yet".to_owned());
    }
    let private = &claims.private;
    let namespace = private.namespace.as_str();
    check_account(shared, namespace, &private.serviceaccount, now)?;
    let bindings = [("secret", "secrets", true, &private.secret), ("pod", "pods", true, &private.pod)];
    for (kind, table, namespaced, reference) in bindings {
        if let Some(reference) = reference {
            check_bound_object(
                shared,
                (kind, table),
                &call::key(namespaced, namespace, &reference.name),
                reference,
                now,
            )?;
        }
    }
    if let (Some(node), None) = (&private.node, &private.pod) {
        check_bound_object(shared, ("node", "nodes"), &node.name, node, now)?;
    }
    Ok(AuthenticatedUser { user: user(namespace, &private.serviceaccount, extra(claims)), audiences })
}

/// Whether a token with a valid signature is valid now: its Secret holds it, and its account exists.
fn check_secret_token(
    shared: &ServerState,
    token: &str,
    claims: &SecretClaims,
    wanted: &[String],
) -> Result<AuthenticatedUser, String> {
    let now = shared.clock.now();
    let owner = Reference { name: claims.name.clone(), uid: claims.uid.clone() };
    let secret = shared.store.get("secrets", &call::key(true, &claims.namespace, &claims.secret));
    let invalidated = || "service account token has been invalidated".to_owned();
    let secret = secret.ok_or_else(invalidated)?;
    let holds =
        secret.value().pointer("/data/token").and_then(Value::as_str) == Some(&STANDARD.encode(token));
    if is_deleted(secret.value(), now) || !holds {
        return Err(invalidated());
    }
    check_account(shared, &claims.namespace, &owner, now)?;
    // Tokens of Secrets have no audiences: they are valid for this server.
    let audiences = matching_audiences(&shared.tokens.audiences, wanted)?;
    Ok(AuthenticatedUser { user: user(&claims.namespace, &owner, BTreeMap::new()), audiences })
}

/// The requested audiences that the token is valid for.
fn matching_audiences(audiences: &[String], wanted: &[String]) -> Result<Vec<String>, String> {
    let matching: Vec<String> =
        wanted.iter().filter(|audience| audiences.contains(audience)).cloned().collect();
    if matching.is_empty() {
        let why = format!("token audiences {audiences:?} is invalid for the target audiences {wanted:?}");
        return Err(why.replace("\", \"", "\" \""));
    }
    Ok(matching)
}

fn check_account(
    shared: &ServerState,
    namespace: &str,
    claim: &Reference,
    now: Timestamp,
) -> Result<(), String> {
    let found = shared.store.get("serviceaccounts", &call::key(true, namespace, &claim.name));
    let found = found.ok_or_else(|| format!("serviceaccounts {:?} not found", claim.name))?;
    if is_deleted(found.value(), now) {
        return Err(format!("service account {namespace}/{} has been deleted", claim.name));
    }
    let uid = meta::text(found.value(), "uid");
    if uid == claim.uid {
        Ok(())
    } else {
        Err(format!("service account UID ({uid}) does not match claim ({})", claim.uid))
    }
}

fn check_bound_object(
    shared: &ServerState,
    (kind, table): (&str, &str),
    key: &str,
    claim: &Reference,
    now: Timestamp,
) -> Result<(), String> {
    let found = shared.store.get(table, key).filter(|found| !is_deleted(found.value(), now));
    let found = found.ok_or("service account token has been invalidated")?;
    let uid = meta::text(found.value(), "uid");
    if uid == claim.uid {
        Ok(())
    } else {
        Err(format!("{kind} UID ({uid}) does not match service account {kind} ref claim ({})", claim.uid))
    }
}

/// Whether an object was deleted longer ago than [`DELETION_LEEWAY`] and only waits for its finalizers.
fn is_deleted(object: &Value, now: Timestamp) -> bool {
    let at: Option<Timestamp> = meta::text(object, "deletionTimestamp").parse().ok();
    at.and_then(|at| at.checked_add(DELETION_LEEWAY).ok()).is_some_and(|last| last < now)
}

fn user(namespace: &str, account: &Reference, extra: BTreeMap<String, Vec<String>>) -> User {
    User {
        name: username(namespace, &account.name),
        uid: account.uid.clone(),
        groups: vec![
            "system:serviceaccounts".to_owned(),
            format!("system:serviceaccounts:{namespace}"),
            "system:authenticated".to_owned(),
        ],
        extra,
    }
}

fn extra(claims: &Claims) -> BTreeMap<String, Vec<String>> {
    let mut extra = BTreeMap::new();
    let mut add = |what: &str, value: &str| {
        if !value.is_empty() {
            extra.insert(format!("authentication.kubernetes.io/{what}"), vec![value.to_owned()]);
        }
    };
    add("credential-id", &format!("JTI={}", claims.jti));
    for (kind, reference) in [("node", &claims.private.node), ("pod", &claims.private.pod)] {
        if let Some(reference) = reference {
            add(&format!("{kind}-name"), &reference.name);
            add(&format!("{kind}-uid"), &reference.uid);
        }
    }
    extra
}
