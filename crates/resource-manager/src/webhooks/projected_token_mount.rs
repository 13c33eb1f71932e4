//! Mounts an expiring token into Pods whose ServiceAccount disables the automatic mount:
//! `contracts/resource-manager/webhooks/projected-token-mount.yaml`.

use api::kubernetes::DEFAULT_SERVICE_ACCOUNT;
use api::resources::PROJECTED_TOKEN_EXPIRATION_SECONDS;
use serde_json::{Value, json};
use webhook::object::{self, WrongType};
use webhook::rejection::Rejection;

use crate::strconv;

/// Name of the webhook.
pub const NAME: &str = "projected-token-mount";
/// Its path.
pub const PATH: &str = "/webhooks/mount-projected-service-account-token";

const VOLUME_PREFIX: &str = "kube-api-access-";
const VOLUME: &str = "kube-api-access-gardener";
const MOUNT_PATH: &str = "/var/run/secrets/kubernetes.io/serviceaccount";

/// The ServiceAccount whose automount setting [`mutate`] needs; `None` if the Pod gets no volume anyway.
///
/// GRM-PTM-002.
///
/// # Errors
/// When the field, or a field that [`mutate`] would change, has the wrong type.
pub fn service_account(pod: &Value) -> Result<Option<&str>, WrongType> {
    for field in ["volumes", "containers", "initContainers"] {
        object::list(pod, &["spec", field])?;
    }
    let name = object::text(pod, &["spec", "serviceAccountName"])?;
    Ok(Some(name).filter(|name| !matches!(*name, "" | DEFAULT_SERVICE_ACCOUNT)))
}

/// Adds the token volume and mounts it into all containers and init containers.
///
/// `automount` is `automountServiceAccountToken` of the Pod's ServiceAccount, which must be false and not
/// absent; the Pod itself must not disable mounting, and must not have a volume named `kube-api-access-…`.
///
/// GRM-PTM-001, GRM-PTM-005, GRM-PTM-006, GRM-PTM-013, GRM-PTM-029.
///
/// # Errors
/// 403 when the Pod's own expiration is not a number, 400 when a field has the wrong type.
pub fn mutate(expiration_seconds: i64, automount: Option<bool>, pod: &mut Value) -> Result<(), Rejection> {
    if automount != Some(false)
        || object::boolean(pod, &["spec", "automountServiceAccountToken"])? == Some(false)
        || has_token_volume(pod)?
    {
        return Ok(());
    }
    let volume = volume(own_expiration(pod)?.unwrap_or(expiration_seconds));
    object::list_mut(pod, &["spec", "volumes"])?.push(volume);
    for containers in ["containers", "initContainers"] {
        let path = ["spec", containers];
        if object::list(pod, &path)?.is_empty() {
            continue;
        }
        for container in object::list_mut(pod, &path)? {
            let mount = json!({"name": VOLUME, "readOnly": true, "mountPath": MOUNT_PATH});
            object::list_mut(container, &["volumeMounts"])?.push(mount);
        }
    }
    Ok(())
}

/// GRM-PTM-003.
fn has_token_volume(pod: &Value) -> Result<bool, WrongType> {
    for volume in object::list(pod, &["spec", "volumes"])? {
        if object::text(volume, &["name"])?.starts_with(VOLUME_PREFIX) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The expiration in the Pod's annotation, in seconds; the API server enforces the minimum.
///
/// GRM-PTM-010, GRM-PTM-011, GRM-PTM-012.
fn own_expiration(pod: &Value) -> Result<Option<i64>, Rejection> {
    object::annotation(pod, PROJECTED_TOKEN_EXPIRATION_SECONDS)?
        .map(strconv::parse_int)
        .transpose()
        .map_err(|error| Rejection::forbidden(error.to_string()))
}

/// GRM-PTM-004.
fn volume(expiration_seconds: i64) -> Value {
    json!({
        "name": VOLUME,
        "projected": {
            "defaultMode": 0o644,
            "sources": [
                {"serviceAccountToken": {"expirationSeconds": expiration_seconds, "path": "token"}},
                {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
                {"downwardAPI": {"items": [{
                    "path": "namespace",
                    "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"},
                }]}},
            ],
        },
    })
}
