//! Admission plugin `ServiceAccount`: a new pod needs a service account that exists, and gets its image pull secrets and
//! a token.

use serde_json::{Value, json};

use super::name_or_prefix;
use crate::call::{self, Call};
use crate::http::status::Status;
use crate::object::meta;
use crate::state::ServerState;

/// Where the token is mounted.
const MOUNT: &str = "/var/run/secrets/kubernetes.io/serviceaccount";
const MIRROR: &str = "kubernetes.io/config.mirror";

/// Sets the service account of a new pod, its image pull secrets, and its token.
///
/// # Errors
/// If the service account does not exist, or a mirror pod names one.
pub(super) fn admit(shared: &ServerState, call: &Call, pod: &mut Value) -> Result<(), Status> {
    let forbidden =
        |pod: &Value, why: &str| Status::forbidden(call.group_resource(), name_or_prefix(pod), why);
    let named =
        pod.pointer("/spec/serviceAccountName").and_then(Value::as_str).unwrap_or_default().to_owned();
    if meta::of(pod).get("annotations").is_some_and(|annotations| annotations.get(MIRROR).is_some()) {
        if named.is_empty() {
            return Ok(());
        }
        return Err(forbidden(pod, "a mirror pod may not reference service accounts"));
    }
    let name = if named.is_empty() { "default" } else { &named };
    let namespace = call.path.namespace.as_str();
    let Some(account) = shared.store.get("serviceaccounts", &call::key(true, namespace, name)) else {
        let why =
            format!("error looking up service account {namespace}/{name}: serviceaccount {name:?} not found");
        return Err(forbidden(pod, &why));
    };
    let account = account.value();
    let Some(spec) = pod.get_mut("spec").and_then(Value::as_object_mut) else { return Ok(()) };
    spec.insert("serviceAccountName".to_owned(), name.into());
    spec.insert("serviceAccount".to_owned(), name.into());
    let automount = |object: Option<&Value>| object.and_then(Value::as_bool);
    let of_pod = automount(spec.get("automountServiceAccountToken"));
    if of_pod.or_else(|| automount(account.get("automountServiceAccountToken"))).unwrap_or(true) {
        mount_token(shared, spec);
    }
    let has_secrets =
        spec.get("imagePullSecrets").and_then(Value::as_array).is_some_and(|list| !list.is_empty());
    if let Some(secrets) = account.get("imagePullSecrets").filter(|_| !has_secrets) {
        spec.insert("imagePullSecrets".to_owned(), secrets.clone());
    }
    Ok(())
}

/// Mounts a token in every container that has no other mount at that path.
fn mount_token(shared: &ServerState, spec: &mut serde_json::Map<String, Value>) {
    let name = shared.ids.name("kube-api-access-");
    let mut mounted = false;
    for list in ["initContainers", "containers"] {
        for container in spec.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten() {
            let Some(container) = container.as_object_mut() else { continue };
            let mounts = container.entry("volumeMounts").or_insert_with(|| json!([]));
            let Some(mounts) = mounts.as_array_mut() else { continue };
            if mounts.iter().any(|mount| mount["mountPath"] == MOUNT) {
                continue;
            }
            mounts.push(json!({"name": name, "readOnly": true, "mountPath": MOUNT}));
            mounted = true;
        }
    }
    if !mounted {
        return;
    }
    let volumes = spec.entry("volumes").or_insert_with(|| json!([]));
    if let Some(volumes) = volumes.as_array_mut() {
        volumes.push(json!({"name": name, "projected": {"defaultMode": 420, "sources": [
            {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
            {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
            {"downwardAPI": {"items": [
                {"path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}},
            ]}},
        ]}}));
    }
}
