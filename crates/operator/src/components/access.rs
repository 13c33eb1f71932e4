//! How pods reach the API server of the virtual cluster: a kubeconfig that all share, and a token of their own.

use api::resources::{PURPOSE, PURPOSE_TOKEN_REQUESTOR, SERVICE_ACCOUNT_NAME, SERVICE_ACCOUNT_NAMESPACE};
use serde_json::{Value, json};

use super::NAMESPACE;
use super::error::RenderError;
use super::generated::{GENERIC_TOKEN_KUBECONFIG, GeneratedSecrets};
use super::rendering::{AccessSecret, DirectStep, ObjectName};

/// Label of an access Secret: the class of the resource-manager that fills it.
const CLASS: &str = "resources.gardener.cloud/class";
/// Key of the kubeconfig.
const KUBECONFIG_KEY: &str = "kubeconfig";
/// Key of the token.
const TOKEN_KEY: &str = "token";
/// Name of the volume with both.
const VOLUME: &str = "kubeconfig";
/// Where it is mounted.
const MOUNT_PATH: &str = "/var/run/secrets/gardener.cloud/shoot/generic-kubeconfig";

/// The namespace of the ServiceAccounts in the virtual cluster.
pub const ACCOUNT_NAMESPACE: &str = "kube-system";
/// The kubeconfig in pods that [`mount_kubeconfig`] has changed.
pub const KUBECONFIG: &str = "/var/run/secrets/gardener.cloud/shoot/generic-kubeconfig/kubeconfig";
/// The token in such pods.
pub const TOKEN_FILE: &str = "/var/run/secrets/gardener.cloud/shoot/generic-kubeconfig/token";

/// The name of a client's access Secret. OPC-014.
#[must_use]
pub fn secret_name(client: &str) -> String {
    format!("shoot-access-{client}")
}

/// Writes a client's access Secret, which gets a token of the ServiceAccount of the client's name. OPC-014, OPC-015.
#[must_use]
pub fn secret(client: &str) -> DirectStep {
    let object = object(&secret_name(client), client);
    DirectStep::PatchLocked(AccessSecret { object, removed_key: KUBECONFIG_KEY })
}

/// Writes an access Secret of another name, whose token gets into a kubeconfig in it.
#[must_use]
pub fn secret_with_kubeconfig(name: &str, kubeconfig: &str) -> DirectStep {
    let mut object = object(name, name);
    object["data"] = json!({ KUBECONFIG_KEY: formats::base64::encode(kubeconfig.as_bytes()) });
    DirectStep::PatchLocked(AccessSecret { object, removed_key: TOKEN_KEY })
}

/// Deletes a client's access Secret.
#[must_use]
pub fn deletion(client: &str) -> DirectStep {
    DirectStep::Delete(ObjectName::in_garden("v1", "Secret", &secret_name(client)))
}

/// Gives all containers of a workload the kubeconfig, and the token of the client's access Secret. OPC-018.
///
/// # Errors
/// If the kubeconfig was not generated.
pub fn mount_kubeconfig(
    workload: &mut Value,
    secrets: &GeneratedSecrets,
    client: &str,
) -> Result<(), RenderError> {
    let source = |name: &str, key: &str| json!({"secret": {"name": name, "items": [{"key": key, "path": key}], "optional": false}});
    let generic = secrets.name(GENERIC_TOKEN_KUBECONFIG)?;
    let sources = [source(generic, KUBECONFIG_KEY), source(&secret_name(client), TOKEN_KEY)];
    let volume = json!({"name": VOLUME, "projected": {"defaultMode": 420, "sources": sources}});
    let mount = json!({"name": VOLUME, "mountPath": MOUNT_PATH, "readOnly": true});
    let pod = &mut workload["spec"]["template"]["spec"];
    push(pod, "volumes", volume);
    for containers in ["initContainers", "containers"] {
        for container in pod.get_mut(containers).and_then(Value::as_array_mut).into_iter().flatten() {
            push(container, "volumeMounts", mount.clone());
        }
    }
    Ok(())
}

/// Appends to a list, which need not be there yet.
pub fn push(object: &mut Value, field: &str, item: Value) {
    match &mut object[field] {
        Value::Array(items) => items.push(item),
        other => *other = Value::Array(vec![item]),
    }
}

fn object(name: &str, account: &str) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {
            "name": name,
            "namespace": NAMESPACE,
            "labels": {PURPOSE: PURPOSE_TOKEN_REQUESTOR, CLASS: "shoot"},
            "annotations": {SERVICE_ACCOUNT_NAME: account, SERVICE_ACCOUNT_NAMESPACE: ACCOUNT_NAMESPACE},
        },
        "type": "Opaque",
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::components::fixture::Fixture;

    #[test]
    fn an_access_secret_requests_a_token() {
        let want = json!({
            "apiVersion": "v1", "kind": "Secret", "type": "Opaque",
            "metadata": {
                "name": "shoot-access-a", "namespace": "garden",
                "labels": {
                    "resources.gardener.cloud/purpose": "token-requestor",
                    "resources.gardener.cloud/class": "shoot",
                },
                "annotations": {
                    "serviceaccount.resources.gardener.cloud/name": "a",
                    "serviceaccount.resources.gardener.cloud/namespace": "kube-system",
                },
            },
        });
        let want = AccessSecret { object: want, removed_key: "kubeconfig" };
        assert_eq!(secret("a"), DirectStep::PatchLocked(want));
    }

    #[test]
    fn every_container_mounts_kubeconfig_and_token() {
        let fixture = Fixture::default();
        let mut workload = json!({"spec": {"template": {"spec": {
            "initContainers": [{"name": "i"}],
            "containers": [{"name": "a", "volumeMounts": [{"name": "own"}]}, {"name": "b"}],
            "volumes": [{"name": "own"}],
        }}}});
        mount_kubeconfig(&mut workload, &fixture.secrets, "a").unwrap();
        let mount = json!({
            "name": "kubeconfig", "readOnly": true,
            "mountPath": "/var/run/secrets/gardener.cloud/shoot/generic-kubeconfig",
        });
        let volume = json!({"name": "kubeconfig", "projected": {"defaultMode": 420, "sources": [
            {"secret": {
                "name": "generic-token-kubeconfig-current", "optional": false,
                "items": [{"key": "kubeconfig", "path": "kubeconfig"}],
            }},
            {"secret": {
                "name": "shoot-access-a", "optional": false, "items": [{"key": "token", "path": "token"}],
            }},
        ]}});
        let want = json!({"spec": {"template": {"spec": {
            "initContainers": [{"name": "i", "volumeMounts": [mount]}],
            "containers": [
                {"name": "a", "volumeMounts": [{"name": "own"}, mount]}, {"name": "b", "volumeMounts": [mount]},
            ],
            "volumes": [{"name": "own"}, volume],
        }}}});
        assert_eq!(workload, want);
    }

    #[test]
    fn a_missing_kubeconfig_is_named() {
        let error = mount_kubeconfig(&mut json!({}), &GeneratedSecrets::default(), "a").unwrap_err();
        assert_eq!(error.to_string(), r#"secret "generic-token-kubeconfig" not found"#);
    }
}
