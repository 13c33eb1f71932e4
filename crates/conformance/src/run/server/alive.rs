//! What a whole cluster does to an object beside the webhooks, told apart from what they do.

use serde_json::Value;

use crate::report::Check;

/// What the names of volumes begin with in which the ServiceAccount plugin mounts tokens; five characters follow by chance.
const TOKEN_VOLUME: &str = "kube-api-access-";

/// Takes off what the ServiceAccount plugin adds to what was sent under a name that it makes up.
pub(super) fn forget(object: &mut Value, sent: &Value) {
    let is_pod = object["apiVersion"] == "v1" && object["kind"] == "Pod";
    let Some(spec) = object.get_mut("spec").filter(|_| is_pod) else { return };
    let given: Vec<&str> =
        sent["spec"]["volumes"].as_array().into_iter().flatten().filter_map(name).collect();
    let is_made_up = |name: &str| is_token_volume(name) && !given.contains(&name);
    retain(spec, "volumes", |volume| !name(volume).is_some_and(is_made_up));
    for containers in ["containers", "initContainers", "ephemeralContainers"] {
        for container in spec.get_mut(containers).and_then(Value::as_array_mut).into_iter().flatten() {
            retain(container, "volumeMounts", |mount| !name(mount).is_some_and(is_made_up));
        }
    }
}

/// Whether a failed check of a pod may owe its failure to the token that the ServiceAccount plugin mounts: webhooks see it.
pub(super) fn speaks_of_mounts(given: &Value, check: &Check) -> bool {
    let is_pod = given["apiVersion"] == "v1" && given["kind"] == "Pod";
    is_pod && check.part == "object" && check.path.starts_with("spec.") && check.path.contains("volume")
}

fn is_token_volume(name: &str) -> bool {
    let made_up =
        |rest: &str| rest.len() == 5 && rest.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
    name.strip_prefix(TOKEN_VOLUME).is_some_and(made_up)
}

/// Takes elements out of a list, and the list if nothing is left of it.
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
    fn the_token_that_every_pod_is_given_is_told_apart_from_volumes_of_its_own_and_of_webhooks() {
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
            forget(&mut object, &pod(sent));
            let mut want = pod(kept);
            if kept.is_empty() {
                want = json!({"apiVersion": "v1", "kind": "Pod", "spec": {"containers": [{"name": "app"}]}});
            }
            assert_eq!(object, want, "{answered:?}");
        }
    }
}
