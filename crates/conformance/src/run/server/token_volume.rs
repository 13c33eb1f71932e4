//! Separates what the ServiceAccount plugin of a whole cluster adds to pods from what webhooks change.

use serde_json::Value;

use crate::report::Check;

/// Prefix of the names of volumes in which the ServiceAccount plugin mounts tokens; five random characters follow.
const TOKEN_VOLUME: &str = "kube-api-access-";

/// Removes the token volume with a generated name that the ServiceAccount plugin adds to a pod.
pub(super) fn remove(object: &mut Value, sent: &Value) {
    let is_pod = object["apiVersion"] == "v1" && object["kind"] == "Pod";
    let Some(spec) = object.get_mut("spec").filter(|_| is_pod) else { return };
    let given: Vec<&str> =
        sent["spec"]["volumes"].as_array().into_iter().flatten().filter_map(name).collect();
    let is_generated = |name: &str| is_token_volume(name) && !given.contains(&name);
    retain(spec, "volumes", |volume| !name(volume).is_some_and(is_generated));
    for containers in ["containers", "initContainers", "ephemeralContainers"] {
        for container in spec.get_mut(containers).and_then(Value::as_array_mut).into_iter().flatten() {
            retain(container, "volumeMounts", |mount| !name(mount).is_some_and(is_generated));
        }
    }
}

/// Whether a check of a pod may fail because of the token volume, which webhooks see.
pub(super) fn concerns_volumes(given: &Value, check: &Check) -> bool {
    let is_pod = given["apiVersion"] == "v1" && given["kind"] == "Pod";
    is_pod && check.part == "object" && check.path.starts_with("spec.") && check.path.contains("volume")
}

fn is_token_volume(name: &str) -> bool {
    let is_random =
        |rest: &str| rest.len() == 5 && rest.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
    name.strip_prefix(TOKEN_VOLUME).is_some_and(is_random)
}

/// Removes elements from a list, and the list itself if it becomes empty.
fn retain(of: &mut Value, field: &str, keeps: impl Fn(&Value) -> bool) {
    let Some(list) = of.get_mut(field).and_then(Value::as_array_mut) else { return };
    let before = list.len();
    list.retain(keeps);
    let is_emptied = list.is_empty() && before > 0;
    if let Some(fields) = of.as_object_mut().filter(|_| is_emptied) {
        fields.remove(field);
    }
}

fn name(value: &Value) -> Option<&str> {
    value["name"].as_str()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_the_generated_token_volume_is_removed() {
        let names = |names: &[&str]| names.iter().map(|name| json!({"name": name})).collect::<Value>();
        let pod = |volumes: &[&str]| {
            let container = json!({"name": "app", "volumeMounts": names(volumes)});
            json!({"apiVersion": "v1", "kind": "Pod", "spec": {"containers": [container], "volumes": names(volumes)}})
        };
        let table = [
            (&["kube-api-access-x7k2p"][..], &[][..], &[][..]),
            (&["own", "kube-api-access-x7k2p"], &["own"], &["own"]),
            (&["kube-api-access-abcde"], &["kube-api-access-abcde"], &["kube-api-access-abcde"]),
            (&["kube-api-access-gardener"], &[], &["kube-api-access-gardener"]),
        ];
        for (answered, sent, kept) in table {
            let mut object = pod(answered);
            remove(&mut object, &pod(sent));
            let mut want = pod(kept);
            if kept.is_empty() {
                want = json!({"apiVersion": "v1", "kind": "Pod", "spec": {"containers": [{"name": "app"}]}});
            }
            assert_eq!(object, want, "{answered:?}");
        }
    }
}
