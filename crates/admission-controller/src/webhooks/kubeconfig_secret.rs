//! A kubeconfig in a Secret of a project names no files and runs no programs
//! (contracts/admission-controller/webhooks/kubeconfig-secret.yaml).

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::core::v1::Secret;
use serde::Deserialize;
use serde_json::Value;
use webhook::field::{Error, Path, Shown};
use webhook::rejection::Rejection;

use super::api_error;

/// Its name.
pub const NAME: &str = "kubeconfig-secret";
/// Its path.
pub const PATH: &str = "/webhooks/validate-kubeconfig-secrets";
/// Why an object was rejected, as a metric has it.
pub const REASON: &str = "Rejected Kubeconfig";

const VALID_FIELDS: &str =
    "these are the valid fields: [client-certificate-data client-key-data token username password]";

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
struct KubeconfigFields {
    #[serde(rename = "apiVersion")]
    api_version: Option<String>,
    kind: Option<String>,
    clusters: Option<Vec<NamedEntry>>,
    contexts: Option<Vec<NamedEntry>>,
    users: Option<Vec<NamedUser>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct NamedEntry {
    name: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct NamedUser {
    name: Option<String>,
    user: Option<UserEntry>,
}

/// What the webhook checks in a user; anything else is allowed.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
struct UserEntry {
    client_certificate: Option<String>,
    client_certificate_data: Option<String>,
    client_key: Option<String>,
    client_key_data: Option<String>,
    token: Option<String>,
    #[serde(rename = "tokenFile")]
    token_file: Option<String>,
    #[serde(rename = "as")]
    impersonate: Option<String>,
    as_groups: Option<Vec<String>>,
    username: Option<String>,
    password: Option<String>,
    auth_provider: Option<AuthProvider>,
    exec: Option<BTreeMap<String, Value>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct AuthProvider {
    config: Option<BTreeMap<String, String>>,
}

/// Judges the kubeconfig of a Secret, if it has one. ADM-KCS-001 to -005.
///
/// # Errors
/// 400 if it is no kubeconfig, 422 if a user of it has a field that is not supported. The kubeconfig does not appear in
/// the message.
pub fn validate(secret: &Secret) -> Result<(), Rejection> {
    let kubeconfig = secret.data.as_ref().and_then(|data| data.get("kubeconfig"));
    let Some(kubeconfig) = kubeconfig else { return Ok(()) };
    let read = read(&kubeconfig.0).map_err(|error| api_error::bad_request(&error))?;
    let unsupported = read.users.iter().flatten().find_map(unsupported);
    let Some(reason) = unsupported else { return Ok(()) };
    let shown = Shown::verbatim(format!("{} bytes", kubeconfig.0.len()));
    let detail = format!("secret contains invalid kubeconfig: {reason}");
    let error = Error::invalid(&Path::new("data").child("kubeconfig"), shown, &detail);
    let name = secret.metadata.name.as_deref().unwrap_or_default();
    Err(Rejection::invalid("", "Secret", name, &[error]))
}

/// Reads a kubeconfig as client-go does; an empty one has no users.
fn read(text: &[u8]) -> Result<KubeconfigFields, String> {
    let document = formats::yaml::first_document(text);
    let document =
        document.map_err(|error| format!("couldn't get version/kind; json parse error: {error}"))?;
    let fields: KubeconfigFields = match document {
        Value::Null => return Ok(KubeconfigFields::default()),
        Value::Object(_) => formats::json::typed(document.to_string().as_bytes())?,
        _ => return Err("couldn't get version/kind; json parse error: expected an object".to_owned()),
    };
    let (version, kind) =
        (fields.api_version.as_deref().unwrap_or_default(), fields.kind.as_deref().unwrap_or_default());
    if !["", "v1"].contains(&version) || !["", "Config"].contains(&kind) {
        return Err(format!("no kind {kind:?} is registered for version {version:?}"));
    }
    check_names(fields.clusters.iter().flatten().map(|entry| &entry.name))?;
    check_names(fields.contexts.iter().flatten().map(|entry| &entry.name))?;
    check_names(fields.users.iter().flatten().map(|user| &user.name))?;
    let users = fields.users.iter().flatten().filter_map(|user| user.user.as_ref());
    for data in users.flat_map(|user| [&user.client_certificate_data, &user.client_key_data]).flatten() {
        formats::base64::decode(data).map_err(|error| error.to_string())?;
    }
    Ok(fields)
}

fn check_names<'a>(names: impl Iterator<Item = &'a Option<String>>) -> Result<(), String> {
    let mut seen = BTreeSet::new();
    for name in names {
        let name = name.as_deref().unwrap_or_default();
        if !seen.insert(name) {
            return Err(format!("duplicate name {name:?} in list"));
        }
    }
    Ok(())
}

/// Why a user is not supported, in the words of the original.
fn unsupported(named: &NamedUser) -> Option<String> {
    let user = named.user.as_ref()?;
    let name = named.name.as_deref().unwrap_or_default();
    let given = |text: &Option<String>| text.as_ref().is_some_and(|text| !text.is_empty());
    let what = if given(&user.client_certificate) {
        "client certificate files are"
    } else if given(&user.client_key) {
        "client key files are"
    } else if given(&user.token_file) {
        "token files are"
    } else if given(&user.impersonate) || user.as_groups.as_ref().is_some_and(|groups| !groups.is_empty()) {
        return Some(format!("impersonation is not supported, {VALID_FIELDS}"));
    } else if user.auth_provider.as_ref().is_some_and(AuthProvider::is_configured) {
        "auth provider configurations are"
    } else if user.exec.is_some() {
        "exec configurations are"
    } else {
        return None;
    };
    Some(format!("{what} not supported (user {}), {VALID_FIELDS}", webhook::field::quote(name)))
}

impl AuthProvider {
    fn is_configured(&self) -> bool {
        self.config.as_ref().is_some_and(|config| !config.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_client_go_cannot_read_is_refused() {
        for text in [
            "a: [",
            "- a",
            "text",
            "kind: Pod",
            "apiVersion: v2",
            "users: 5",
            "users: [{name: a}, {name: a}]",
            "clusters: [{name: a}, {name: a}]",
            "contexts: [{name: a}, {name: a}]",
            "users: [{name: a, user: {client-key-data: '*'}}]",
            "users: [{name: a, user: {token: 5}}]",
        ] {
            assert!(read(text.as_bytes()).is_err(), "{text}");
        }
        for text in
            ["", "{}", "apiVersion: v1\nkind: Config", "users: [{name: a}, {name: b, user: {token: b}}]"]
        {
            assert!(read(text.as_bytes()).is_ok(), "{text}");
        }
    }
}
