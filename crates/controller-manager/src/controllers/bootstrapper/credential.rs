//! The Secret with the credential for the monitoring of all Seeds.

use std::collections::BTreeMap;

use aws_lc_rs::digest::{SHA1_FOR_LEGACY_USE_ONLY, digest};
use controller::entropy::SecretError;
use formats::base64;
use jiff::Timestamp;
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::ResourceExt as _;
use kube::api::{Api, Patch, PatchParams, PostParams};
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use super::rotation::{CREDENTIAL, FOR, ISSUED, LabelTimeError, ROTATED, label, seconds};
use super::{MANAGED, MONITORING, list};
use crate::controllers::{Context, GARDEN_NAMESPACE};

/// The Secret's name before the first rotation; its end is derived from [`CHECKSUM`].
const NAME: &str = "observability-ingress-0da36eb1";
/// Label with the hash that Gardener computes of what is to be generated: name, format, user and length.
const CONFIG: (&str, &str) = ("checksum-of-config", "11858292764484506667");
/// How many digits of a hash identify the rotation of a Secret.
const ROTATION_DIGITS: usize = 5;
/// Label of a Secret whose data is taken over.
const USE_DATA: &str = "secrets-manager-use-data-for-name";
const USER: &str = "admin";
const PASSWORD_LENGTH: usize = 32;

/// Why there is no credential.
#[derive(Debug, thiserror::Error)]
pub enum CredentialError {
    /// Whether there is one cannot be read.
    #[error("failed reading secret garden/{name} for config observability-ingress")]
    Read {
        /// The Secret.
        name: String,
        /// The garden's answer.
        source: kube::Error,
    },
    /// It does not exist, and it cannot be created.
    #[error("failed generating and creating new secret garden/{name} for config observability-ingress")]
    Create {
        /// The Secret.
        name: String,
        /// What failed.
        source: CreationError,
    },
    /// Its label for the last rotation is no time.
    #[error("failed adding current secret garden/{name} for config observability-ingress to internal store")]
    Times {
        /// The Secret.
        name: String,
        /// The label.
        source: LabelTimeError,
    },
    /// Its labels cannot be written.
    #[error("failed reconciling existing secret garden/{name} for config observability-ingress")]
    Reconcile {
        /// The Secret.
        name: String,
        /// The garden's answer.
        source: kube::Error,
    },
}

/// Why the Secret could not be created.
#[derive(Debug, thiserror::Error)]
pub enum CreationError {
    /// There is no random password.
    #[error("failed generating data")]
    Password(#[source] SecretError),
    /// Whether there is data to take over cannot be read.
    #[error("failed taking over data from existing secret when needed")]
    TakeOver(#[source] kube::Error),
    /// Several Secrets have data to take over.
    #[error(
        "failed taking over data from existing secret when needed: found more than one existing secret with \
         \"secrets-manager-use-data-for-name\" label for config \"observability-ingress\""
    )]
    Ambiguous,
    /// The garden refuses it.
    #[error("failed creating new secret")]
    Write(#[source] kube::Error),
    /// Somebody else has created it, and it cannot be read.
    #[error("failed reading existing secret")]
    ReadAgain(#[source] kube::Error),
}

/// The name of the Secret after a rotation at this time; empty: before the first. GCM-BOO-010.
pub(super) fn name(rotated: &str) -> String {
    if rotated.is_empty() {
        return NAME.to_owned();
    }
    let hash = format!("{:x}", Sha256::digest(rotated));
    format!("{NAME}-{}", &hash[..ROTATION_DIGITS])
}

/// Creates the Secret unless there is one, and gives an existing one what the manager of its kind demands. Returns its name.
///
/// The original writes it three times at each start, without its role in between; here the first write is complete, and there
/// is none if nothing is missing. GCM-BOO-007.
///
/// # Errors
/// When it cannot be read or written, or its labels are no times.
pub(super) async fn keep(
    context: &Context,
    secrets: &Api<Secret>,
    rotated: &str,
    found: Option<Secret>,
) -> Result<String, CredentialError> {
    let name = name(rotated);
    let found = match found {
        Some(found) => Some(found),
        None => secrets
            .get_opt(&name)
            .await
            .map_err(|source| CredentialError::Read { name: name.clone(), source })?,
    };
    let last = found.as_ref().map_or(rotated, |secret| label(secret, ROTATED));
    if !last.is_empty() {
        seconds(last).map_err(|source| CredentialError::Times { name: name.clone(), source })?;
    }
    let found = match found {
        Some(found) => Some(found),
        None => create(context, secrets, &name, rotated)
            .await
            .map_err(|source| CredentialError::Create { name: name.clone(), source })?,
    };
    let patch = found.and_then(|found| missing(&found, rotated, context.clock.now()));
    if let Some(patch) = patch {
        let written = secrets.patch(&name, &PatchParams::default(), &Patch::Merge(patch)).await;
        written.map_err(|source| CredentialError::Reconcile { name: name.clone(), source })?;
    }
    Ok(name)
}

/// Creates it; returns the Secret that somebody else has created in the meantime.
async fn create(
    context: &Context,
    secrets: &Api<Secret>,
    name: &str,
    rotated: &str,
) -> Result<Option<Secret>, CreationError> {
    let data = if let Some(other) = to_take_over(secrets).await? {
        other.data
    } else {
        let password = context.entropy.secret(PASSWORD_LENGTH).map_err(CreationError::Password)?;
        Some(generated(&password))
    };
    let secret = Secret {
        metadata: ObjectMeta {
            name: Some(name.to_owned()),
            namespace: Some(GARDEN_NAMESPACE.to_owned()),
            labels: Some(labels(rotated, &context.clock.now().as_second().to_string())),
            ..ObjectMeta::default()
        },
        type_: Some(type_of(data.as_ref()).to_owned()),
        data,
        immutable: Some(true),
        ..Secret::default()
    };
    match secrets.create(&PostParams::default(), &secret).await {
        Ok(_) => {
            tracing::info!(secret = name, "Generated new secret");
            Ok(None)
        }
        Err(kube::Error::Api(status)) if status.is_already_exists() => {
            secrets.get(name).await.map(Some).map_err(CreationError::ReadAgain)
        }
        Err(error) => Err(CreationError::Write(error)),
    }
}

/// GCM-BOO-009: the Secret whose label offers its data, even if it has none.
async fn to_take_over(secrets: &Api<Secret>) -> Result<Option<Secret>, CreationError> {
    let mut found = list(secrets, &[(USE_DATA, CREDENTIAL)]).await.map_err(CreationError::TakeOver)?;
    if found.len() > 1 { Err(CreationError::Ambiguous) } else { Ok(found.pop()) }
}

/// GCM-BOO-003: user, password, and both as web servers read them.
fn generated(password: &str) -> BTreeMap<String, ByteString> {
    let hash = digest(&SHA1_FOR_LEGACY_USE_ONLY, password.as_bytes());
    let auth = format!("{USER}:{{SHA}}{}", base64::encode(hash.as_ref()));
    let texts = [("auth", auth.as_str()), ("password", password), ("username", USER)];
    texts.into_iter().map(|(key, text)| (key.to_owned(), ByteString(text.as_bytes().to_vec()))).collect()
}

/// The type of a Secret with this data.
fn type_of(data: Option<&BTreeMap<String, ByteString>>) -> &'static str {
    let is_certificate =
        ["tls.crt", "tls.key"].iter().all(|key| data.is_some_and(|data| data.contains_key(*key)));
    if is_certificate { "kubernetes.io/tls" } else { "Opaque" }
}

/// GCM-BOO-004.
fn labels(rotated: &str, issued: &str) -> BTreeMap<String, String> {
    let labels = [(FOR, CREDENTIAL), CONFIG, MONITORING, (ROTATED, rotated), (ISSUED, issued)];
    let labels = labels.into_iter().chain(MANAGED);
    labels.map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
}

/// GCM-BOO-005: the merge patch that gives an existing Secret its labels and makes it immutable; `None` if it is so.
fn missing(found: &Secret, rotated: &str, now: Timestamp) -> Option<Value> {
    let now = now.as_second().to_string();
    let issued = Some(label(found, ISSUED)).filter(|issued| !issued.is_empty()).unwrap_or(&now);
    let wanted = labels(rotated, issued);
    let unwanted = found.labels().keys().filter(|key| !wanted.contains_key(*key));
    let unwanted = unwanted.map(|key| (key.clone(), Value::Null));
    let changed = wanted.iter().filter(|(key, value)| found.labels().get(*key) != Some(value));
    let changed = changed.map(|(key, value)| (key.clone(), json!(value)));
    let labels: Map<String, Value> = unwanted.chain(changed).collect();
    let mut patch = Map::new();
    if !labels.is_empty() {
        patch.insert("metadata".to_owned(), json!({"labels": labels}));
    }
    if found.immutable != Some(true) {
        patch.insert("immutable".to_owned(), json!(true));
    }
    (!patch.is_empty()).then_some(Value::Object(patch))
}
