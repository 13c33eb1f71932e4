//! Data of an InternalSecret, which must fit its type.

use api::garden::InternalSecret;
use serde_json::Value;
use webhook::field::{Error, Path};

use super::field_errors::{FieldErrors, each_invalid};
use super::names;

/// Most bytes of all values.
const LARGEST: usize = 1024 * 1024;
/// Annotation of a Secret with a token of a ServiceAccount.
const SERVICE_ACCOUNT: &str = "kubernetes.io/service-account.name";

/// Keys, size and what the type demands: GDN-INS-002 to -005. Other types demand nothing.
pub(super) fn validate(secret: &InternalSecret) -> FieldErrors {
    let at = Path::new("data");
    let keys = secret.data.keys();
    let mut errors: FieldErrors =
        keys.flat_map(|key| each_invalid(&at.key(key), key, &names::config_key(key))).collect();
    if secret.data.values().map(|value| value.0.len()).sum::<usize>() > LARGEST {
        errors.push(Error::too_long(&at, LARGEST));
    }
    let missing = |key: &str| (!secret.data.contains_key(key)).then(|| Error::required(&at.key(key), ""));
    match secret.type_.as_deref().unwrap_or_default() {
        "kubernetes.io/service-account-token" => errors.extend(service_account(secret)),
        "kubernetes.io/dockercfg" => errors.extend(docker(secret, ".dockercfg", &at)),
        "kubernetes.io/dockerconfigjson" => errors.extend(docker(secret, ".dockerconfigjson", &at)),
        "kubernetes.io/basic-auth" => {
            let both = [missing("username"), missing("password")];
            if both.iter().all(Option::is_some) {
                errors.extend(both.into_iter().flatten());
            }
        }
        "kubernetes.io/ssh-auth" => {
            let key = "ssh-privatekey";
            let is_empty = secret.data.get(key).is_none_or(|value| value.0.is_empty());
            errors.extend(is_empty.then(|| Error::required(&at.key(key), "")));
        }
        "kubernetes.io/tls" => errors.extend([missing("tls.crt"), missing("tls.key")].into_iter().flatten()),
        _ => {}
    }
    errors
}

fn service_account(secret: &InternalSecret) -> Option<Error> {
    let annotations = secret.metadata.annotations.as_ref();
    let is_named = annotations
        .and_then(|annotations| annotations.get(SERVICE_ACCOUNT))
        .is_some_and(|name| !name.is_empty());
    let at = Path::new("metadata").child("annotations").key(SERVICE_ACCOUNT);
    (!is_named).then(|| Error::required(&at, ""))
}

/// A configuration of Docker is a JSON object.
fn docker(secret: &InternalSecret, key: &str, at: &Path) -> Option<Error> {
    let at = at.key(key);
    let Some(text) = secret.data.get(key) else { return Some(Error::required(&at, "")) };
    let why = match formats::json::document(&text.0) {
        Ok(Value::Object(_) | Value::Null) => return None,
        Ok(other) => {
            let found = match other {
                Value::Array(_) => "array",
                Value::Bool(_) => "bool",
                Value::Number(_) => "number",
                _ => "string",
            };
            format!("json: cannot unmarshal {found} into Go value of type map[string]interface {{}}")
        }
        Err(why) => why,
    };
    Some(Error::invalid(&at, "<secret contents redacted>", &why))
}
