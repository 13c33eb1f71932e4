//! Bearer tokens: whose they are, and whether they still hold.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use crate::access::tokens::{Claims, Reference, SECRET_ISSUER, SecretClaims, username};
use crate::call::{self, User};
use crate::object::meta;
use crate::state::Shared;

/// The holder of a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Identified {
    /// Who it is.
    pub(crate) user: User,
    /// Which of the wanted audiences the token is meant for; one at least.
    pub(crate) audiences: Vec<String>,
}

/// Why a token opens nothing, in the words of a TokenReview.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refused(pub(crate) String);

/// How long the objects of a token still count after their deletion.
const GOING: SignedDuration = SignedDuration::from_secs(60);
/// By how much a token may seem too early or too late, in seconds.
const LEEWAY: i64 = 60;

/// Who holds a token that is meant for one of these audiences; without audiences, for this server.
pub(crate) fn identify(shared: &Shared, token: &str, wanted: &[String]) -> Result<Identified, Refused> {
    let own = &shared.tokens.audiences;
    let wanted = if wanted.is_empty() { own } else { wanted };
    // A token that was registered says nothing of audiences: it is meant for this server.
    if let (Some(user), Ok(audiences)) = (shared.tokens.known(token), meant_for(own, wanted)) {
        return Ok(Identified { user, audiences });
    }
    match issuer(token).as_deref() {
        Some(issuer) if shared.tokens.accepts(issuer) => {
            bound(shared, token, wanted).map_err(|why| among_all(&why))
        }
        Some(SECRET_ISSUER) => in_secret(shared, token, wanted).map_err(|why| among_all(&why)),
        _ => Err(Refused("invalid bearer token".to_owned())),
    }
}

/// The issuer that a token claims, unverified.
fn issuer(token: &str) -> Option<String> {
    let payload = URL_SAFE_NO_PAD.decode(token.split('.').nth(1)?).ok()?;
    let claims: Value = serde_json::from_slice(&payload).ok()?;
    claims.get("iss")?.as_str().map(str::to_owned)
}

/// Each way to read a token says why it is none of its own.
fn among_all(why: &str) -> Refused {
    Refused(format!("[invalid bearer token, {why}]"))
}

fn bound(shared: &Shared, token: &str, wanted: &[String]) -> Result<Identified, String> {
    let claims: Claims = shared.tokens.signer().read(token).map_err(|error| error.to_string())?;
    let audiences = meant_for(&claims.aud, wanted)?;
    let now = shared.clock.now();
    if now.as_second() - LEEWAY > claims.exp {
        return Err("service account token has expired".to_owned());
    }
    if now.as_second() + LEEWAY < claims.nbf {
        return Err("service account token is not valid yet".to_owned());
    }
    let private = &claims.private;
    let namespace = private.namespace.as_str();
    account(shared, namespace, &private.serviceaccount, now)?;
    let bindings = [("secret", "secrets", true, &private.secret), ("pod", "pods", true, &private.pod)];
    for (kind, table, namespaced, reference) in bindings {
        if let Some(reference) = reference {
            binding(
                shared,
                (kind, table),
                &call::key(namespaced, namespace, &reference.name),
                reference,
                now,
            )?;
        }
    }
    if let (Some(node), None) = (&private.node, &private.pod) {
        binding(shared, ("node", "nodes"), &node.name, node, now)?;
    }
    Ok(Identified { user: user(namespace, &private.serviceaccount, extra(&claims)), audiences })
}

fn in_secret(shared: &Shared, token: &str, wanted: &[String]) -> Result<Identified, String> {
    let claims: SecretClaims = shared.tokens.signer().read(token).map_err(|error| error.to_string())?;
    let now = shared.clock.now();
    let owner = Reference { name: claims.name.clone(), uid: claims.uid.clone() };
    let secret = shared.store.get("secrets", &call::key(true, &claims.namespace, &claims.secret));
    let invalidated = || "service account token has been invalidated".to_owned();
    let secret = secret.ok_or_else(invalidated)?;
    let holds =
        secret.value().pointer("/data/token").and_then(Value::as_str) == Some(&STANDARD.encode(token));
    if going(secret.value(), now) || !holds {
        return Err(invalidated());
    }
    account(shared, &claims.namespace, &owner, now)?;
    // Tokens in secrets are meant for this server alone, and say nothing of it.
    let audiences = meant_for(&shared.tokens.audiences, wanted)?;
    Ok(Identified { user: user(&claims.namespace, &owner, BTreeMap::new()), audiences })
}

/// Which of the wanted audiences are among those of a token.
fn meant_for(audiences: &[String], wanted: &[String]) -> Result<Vec<String>, String> {
    let both: Vec<String> = wanted.iter().filter(|audience| audiences.contains(audience)).cloned().collect();
    if both.is_empty() {
        let why = format!("token audiences {audiences:?} is invalid for the target audiences {wanted:?}");
        return Err(why.replace("\", \"", "\" \""));
    }
    Ok(both)
}

fn account(shared: &Shared, namespace: &str, claim: &Reference, now: Timestamp) -> Result<(), String> {
    let found = shared.store.get("serviceaccounts", &call::key(true, namespace, &claim.name));
    let found = found.ok_or_else(|| format!("serviceaccounts {:?} not found", claim.name))?;
    if going(found.value(), now) {
        return Err(format!("service account {namespace}/{} has been deleted", claim.name));
    }
    let uid = meta::text(found.value(), "uid");
    if uid == claim.uid {
        Ok(())
    } else {
        Err(format!("service account UID ({uid}) does not match claim ({})", claim.uid))
    }
}

fn binding(
    shared: &Shared,
    (kind, table): (&str, &str),
    key: &str,
    claim: &Reference,
    now: Timestamp,
) -> Result<(), String> {
    let found = shared.store.get(table, key).filter(|found| !going(found.value(), now));
    let found = found.ok_or("service account token has been invalidated")?;
    let uid = meta::text(found.value(), "uid");
    if uid == claim.uid {
        Ok(())
    } else {
        Err(format!("{kind} UID ({uid}) does not match service account {kind} ref claim ({})", claim.uid))
    }
}

/// Whether an object was deleted so long ago that it only waits for its finalizers.
fn going(object: &Value, now: Timestamp) -> bool {
    let at: Option<Timestamp> = meta::text(object, "deletionTimestamp").parse().ok();
    at.and_then(|at| at.checked_add(GOING).ok()).is_some_and(|last| last < now)
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
    let mut say = |what: &str, value: &str| {
        if !value.is_empty() {
            extra.insert(format!("authentication.kubernetes.io/{what}"), vec![value.to_owned()]);
        }
    };
    say("credential-id", &format!("JTI={}", claims.jti));
    for (kind, reference) in [("node", &claims.private.node), ("pod", &claims.private.pod)] {
        if let Some(reference) = reference {
            say(&format!("{kind}-name"), &reference.name);
            say(&format!("{kind}-uid"), &reference.uid);
        }
    }
    extra
}
