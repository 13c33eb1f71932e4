//! The tokens controller: fills Secrets of type `kubernetes.io/service-account-token`, and deletes those without an
//! account.

use std::collections::BTreeSet;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::ObjectChange;
use super::client::{Client, RequestError};
use crate::access::tokens::{Reference, SecretClaims};
use crate::call;
use crate::object::meta;
use crate::state::ServerState;

const CONTROLLER: &str = "tokens-controller";
const SECRET_TYPE: &str = "kubernetes.io/service-account-token";
const NAME_ANNOTATION: &str = "kubernetes.io/service-account.name";
const UID_ANNOTATION: &str = "kubernetes.io/service-account.uid";

/// The keys of Secrets to retry.
#[derive(Debug, Default)]
pub(super) struct TokenSecrets {
    failed: BTreeSet<String>,
}

impl TokenSecrets {
    /// Processes changed Secrets and accounts; returns whether a retry is necessary.
    pub(super) async fn sync(
        &mut self,
        shared: &ServerState,
        client: &Client,
        changes: &[ObjectChange],
    ) -> bool {
        let mut due = std::mem::take(&mut self.failed);
        for change in changes {
            match change.table.as_str() {
                "secrets" => {
                    due.insert(change.key.to_string());
                }
                "serviceaccounts" => due.extend(secrets_of(shared, &change.key)),
                _ => {}
            }
        }
        for key in due {
            if sync_secret(shared, client, &key).await.is_err_and(|error| !error.is_outdated()) {
                self.failed.insert(key);
            }
        }
        !self.failed.is_empty()
    }
}

/// The keys of the Secrets that name an account.
fn secrets_of(shared: &ServerState, account: &str) -> Vec<String> {
    let Some((namespace, name)) = account.split_once('/') else { return Vec::new() };
    let snapshot = shared.store.snapshot("secrets");
    let prefix = call::key(true, namespace, "");
    let of = snapshot
        .range(&prefix, None)
        .filter(|(_, secret)| annotation(&secret.tree(), NAME_ANNOTATION) == name);
    of.map(|(key, _)| key.to_string()).collect()
}

async fn sync_secret(shared: &ServerState, client: &Client, key: &str) -> Result<(), RequestError> {
    let Some(secret) = shared.store.get("secrets", key) else { return Ok(()) };
    let secret = &*secret.tree();
    let account = annotation(secret, NAME_ANNOTATION);
    if secret.get("type").and_then(Value::as_str) != Some(SECRET_TYPE)
        || account.is_empty()
        || meta::is_terminating(secret)
    {
        return Ok(());
    }
    let (namespace, name) = (meta::namespace(secret), meta::name(secret));
    let path = format!("/api/v1/namespaces/{namespace}/secrets/{name}");
    let owner = shared.store.get("serviceaccounts", &call::key(true, namespace, account));
    let uid = owner.map(|owner| meta::text(owner.value(), "uid").to_owned());
    let wanted = annotation(secret, UID_ANNOTATION);
    let Some(uid) = uid.filter(|uid| wanted.is_empty() || wanted == uid.as_str()) else {
        let options = json!({"preconditions": {"uid": meta::text(secret, "uid")}});
        return client.delete(CONTROLLER, &path, &options).await.map(drop);
    };
    let mut filled = secret.clone();
    filled["metadata"]["annotations"][UID_ANNOTATION] = uid.as_str().into();
    let mut data = |field: &str, make: &dyn Fn() -> String| {
        let missing = filled["data"][field].as_str().unwrap_or_default().is_empty();
        if missing {
            filled["data"][field] = STANDARD.encode(make()).into();
        }
    };
    if let Ok(authority) = shared.authority.get() {
        data("ca.crt", &|| authority.pem());
    }
    data("namespace", &|| namespace.to_owned());
    let reference = Reference { name: account.to_owned(), uid };
    data("token", &|| shared.tokens.signer().sign(&SecretClaims::new(namespace, &reference, name)));
    if &filled == secret { Ok(()) } else { client.update(CONTROLLER, &path, &filled).await.map(drop) }
}

fn annotation<'a>(object: &'a Value, key: &str) -> &'a str {
    let annotations = meta::of(object).get("annotations");
    annotations.and_then(|all| all.get(key)).and_then(Value::as_str).unwrap_or_default()
}
