//! Sets the API server's host name in containers, so that they reach it directly:
//! `contracts/resource-manager/webhooks/kubernetes-service-host.yaml`.

use serde_json::{Map, Value};
use webhook::object::{self, WrongType};
use webhook::rejection::Rejection;

/// Name of the webhook.
pub const NAME: &str = "kubernetes-service-host";
/// Its path.
pub const PATH: &str = "/webhooks/kubernetes-service-host";

const VARIABLE: &str = "KUBERNETES_SERVICE_HOST";

/// Appends the variable with `host` to each container and init container that does not have it.
///
/// GRM-KSH-001, GRM-KSH-003, GRM-KSH-004, GRM-KSH-013.
///
/// # Errors
/// 400 when a field has the wrong type.
pub fn mutate(host: &str, pod: &mut Value) -> Result<(), Rejection> {
    for containers in ["initContainers", "containers"] {
        let path = ["spec", containers];
        if object::list(pod, &path)?.is_empty() {
            continue;
        }
        for container in object::list_mut(pod, &path)? {
            if !names_host(container)? {
                object::list_mut(container, &["env"])?.push(variable(host));
            }
        }
    }
    Ok(())
}

/// Whether the container's environment has the variable, from a value or a source.
///
/// GRM-KSH-002.
fn names_host(container: &Value) -> Result<bool, WrongType> {
    for entry in object::list(container, &["env"])? {
        if object::text(entry, &["name"])? == VARIABLE {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The entry; an empty host is omitted, as in the API's form.
///
/// GRM-KSH-010.
fn variable(host: &str) -> Value {
    let mut entry = Map::from_iter([("name".to_owned(), Value::from(VARIABLE))]);
    if !host.is_empty() {
        entry.insert("value".to_owned(), Value::from(host));
    }
    Value::Object(entry)
}
