//! Defaults that depend on other fields.

use std::sync::LazyLock;

use formats::pattern::Pattern;
use serde_json::{Map, Value, json};

use crate::object::meta;

/// Changes that the tables depend on.
pub(super) fn before(kind: &str, object: &mut Value) {
    match kind {
        "v1 Secret" => encode_string_data(object),
        "v1 ConfigMap" => drop_empty(object, &["data", "binaryData"]),
        "networking.k8s.io/v1 NetworkPolicy" => policy_types(object),
        "batch/v1 Job" => {
            job_size(object);
            job_labels(object);
        }
        "autoscaling/v2 HorizontalPodAutoscaler" => drop_empty_in(object, "spec", &["metrics"]),
        "v1 ReplicationController" => controller_labels(object),
        "apps/v1 DaemonSet" => template_generation(object),
        "v1 Node" => pod_ranges(object),
        "v1 LimitRange" => limit_range_defaults(object),
        "v1 Namespace" => meta::label_namespace(object),
        _ => {}
    }
    if let Some(spec) = pod_spec(kind, object) {
        image_pull_policies(spec);
    }
}

/// Defaults that depend on those of the tables.
pub(super) fn after(kind: &str, object: &mut Value) {
    match kind {
        "v1 Pod" => {
            object.get_mut("spec").into_iter().for_each(requests_from_limits);
            object.get_mut("status").into_iter().for_each(pod_addresses);
        }
        "v1 Service" => {
            target_ports(object);
            session_affinity_timeout(object);
            external_traffic(object);
        }
        "v1 PersistentVolumeClaim" => data_source(object),
        _ => {}
    }
    if let Some(spec) = pod_spec(kind, object) {
        host_ports(spec);
        service_account(spec);
    }
}

/// The timeout of session affinity, if the Service uses that.
fn session_affinity_timeout(service: &mut Value) {
    let spec = &mut service["spec"];
    let is_set = spec
        .pointer("/sessionAffinityConfig/clientIP/timeoutSeconds")
        .is_some_and(|timeout| !timeout.is_null());
    match spec["sessionAffinity"].as_str() {
        Some("None") => {
            spec.as_object_mut().into_iter().for_each(|spec| {
                spec.remove("sessionAffinityConfig");
            });
        }
        Some("ClientIP") if !is_set => {
            spec["sessionAffinityConfig"] = json!({"clientIP": {"timeoutSeconds": 10_800}});
        }
        _ => {}
    }
}

/// A ClusterIP Service with external IPs also has a traffic policy.
fn external_traffic(service: &mut Value) {
    let spec = &mut service["spec"];
    let listed = spec.get("externalIPs").and_then(Value::as_array).is_some_and(|list| !list.is_empty());
    let is_set = spec.get("externalTrafficPolicy").is_some_and(|policy| policy != "" && !policy.is_null());
    if listed && !is_set && spec["type"] == "ClusterIP" {
        spec["externalTrafficPolicy"] = "Cluster".into();
    }
}

/// Sets `podIP` from the first of `podIPs`, or `podIPs` from `podIP`.
fn pod_addresses(status: &mut Value) {
    let first = status.pointer("/podIPs/0/ip").cloned();
    match (first, status["podIP"].clone()) {
        (None, Value::String(address)) if !address.is_empty() => status["podIPs"] = json!([{"ip": address}]),
        (Some(first), Value::Null) => status["podIP"] = first,
        (None, Value::Null) => {
            status.as_object_mut().into_iter().for_each(|status| {
                status.remove("podIP");
            });
        }
        _ => {}
    }
}

/// The annotation of the template generation is a field of Go's type, which always has a value. The strategy
/// increments it.
fn template_generation(set: &mut Value) {
    if !set["metadata"].is_object() {
        set["metadata"] = json!({});
    }
    let annotations = &mut set["metadata"]["annotations"];
    if !annotations.is_object() {
        *annotations = json!({});
    }
    let number = &mut annotations[meta::TEMPLATE_GENERATION];
    if number.is_null() {
        *number = "0".into();
    }
}

/// A stored job without labels gets those of its pods; a new job gets them once its pods have all of theirs.
fn job_labels(job: &mut Value) {
    let pods = job.pointer("/spec/template/metadata/labels").cloned().unwrap_or_default();
    let own = job["metadata"].get("labels").and_then(Value::as_object).is_some_and(|own| !own.is_empty());
    if !own && pods.get("batch.kubernetes.io/controller-uid").is_some() && job["metadata"].is_object() {
        job["metadata"]["labels"] = pods;
    }
}

/// The pod spec that an object has or creates pods from.
fn pod_spec<'a>(kind: &str, object: &'a mut Value) -> Option<&'a mut Value> {
    object.pointer_mut(match kind {
        "v1 Pod" => "/spec",
        "v1 PodTemplate" => "/template/spec",
        "apps/v1 Deployment"
        | "apps/v1 StatefulSet"
        | "apps/v1 DaemonSet"
        | "apps/v1 ReplicaSet"
        | "batch/v1 Job"
        | "v1 ReplicationController" => "/spec/template/spec",
        "batch/v1 CronJob" => "/spec/jobTemplate/spec/template/spec",
        _ => return None,
    })
}

fn for_each_container(spec: &mut Value, mut act: impl FnMut(&mut Value)) {
    for list in ["containers", "initContainers", "ephemeralContainers"] {
        spec.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten().for_each(&mut act);
    }
}

/// Fills the default limits of containers from their maximum, and the default requests from the default limits or the
/// minimum.
fn limit_range_defaults(range: &mut Value) {
    let limits = range.pointer_mut("/spec/limits").and_then(Value::as_array_mut);
    for limit in limits.into_iter().flatten().filter(|limit| limit["type"] == "Container") {
        for (to, from) in [("default", "max"), ("defaultRequest", "default"), ("defaultRequest", "min")] {
            let given = limit[from].as_object().cloned().unwrap_or_default();
            let Some(fields) = limit.as_object_mut().filter(|_| !given.is_empty()) else { continue };
            let Some(amounts) = fields.entry(to).or_insert_with(|| json!({})).as_object_mut() else {
                continue;
            };
            for (resource, amount) in given {
                amounts.entry(resource).or_insert(amount);
            }
        }
    }
}

/// The default pull policy: `Always` for images without a tag or with the tag `latest`.
fn image_pull_policies(spec: &mut Value) {
    for_each_container(spec, |container| {
        if container.get("imagePullPolicy").and_then(Value::as_str).unwrap_or_default().is_empty()
            && let Some(image) = container.get("image").and_then(Value::as_str)
        {
            let policy = if is_latest(image) { "Always" } else { "IfNotPresent" };
            container["imagePullPolicy"] = policy.into();
        } else if container.is_object() && container.get("imagePullPolicy").is_none() {
            container["imagePullPolicy"] = "IfNotPresent".into();
        }
    });
}

/// References to images, as the package distribution/reference v0.6 reads them.
static REFERENCE: LazyLock<Option<Pattern>> = LazyLock::new(|| {
    let part = "[a-z0-9]+(?:(?:[.]|_|__|-+)[a-z0-9]+)*";
    let label = "(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])";
    let domain = format!("{label}(?:[.]{label})*(?::[0-9]+)?/");
    let digest = "@[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}";
    let tag = "(?::[0-9A-Za-z_][0-9A-Za-z_.-]{0,127})";
    Pattern::new(&format!("^(?:{domain})?{part}(?:/{part})*{tag}?(?:{digest})?$")).ok()
});

fn is_latest(image: &str) -> bool {
    let (name, digest) = image.split_once('@').map_or((image, None), |(name, digest)| (name, Some(digest)));
    let last = name.rsplit('/').next().unwrap_or(name);
    // An invalid image name does not count as address without a tag.
    if REFERENCE.as_ref().is_some_and(|reference| !reference.is_match(image)) {
        return false;
    }
    match last.split_once(':') {
        Some((_, tag)) => tag == "latest",
        None => digest.is_none(),
    }
}

/// On the host network, the host port is the container port.
fn host_ports(spec: &mut Value) {
    if spec.get("hostNetwork") != Some(&Value::Bool(true)) {
        return;
    }
    for_each_container(spec, |container| {
        for port in container.get_mut("ports").and_then(Value::as_array_mut).into_iter().flatten() {
            let unset = port.get("hostPort").and_then(Value::as_i64).unwrap_or_default() == 0;
            if let Some(number) = port.get("containerPort").cloned().filter(|_| unset) {
                port["hostPort"] = number;
            }
        }
    });
}

/// Both fields with the service account's name have the same value.
fn service_account(spec: &mut Value) {
    let name = ["serviceAccountName", "serviceAccount"]
        .into_iter()
        .find_map(|field| spec.get(field).and_then(Value::as_str).filter(|name| !name.is_empty()))
        .map(str::to_owned);
    if let Some(name) = name {
        spec["serviceAccountName"] = name.as_str().into();
        spec["serviceAccount"] = name.into();
    }
}

/// A missing request is the limit.
fn requests_from_limits(spec: &mut Value) {
    for_each_container(spec, |container| {
        let limits = container.pointer("/resources/limits").and_then(Value::as_object).cloned();
        let Some(limits) = limits.filter(|limits| !limits.is_empty()) else { return };
        let requests = container["resources"]
            .as_object_mut()
            .map(|resources| resources.entry("requests").or_insert_with(|| Value::Object(Map::new())));
        let Some(requests) = requests.and_then(Value::as_object_mut) else { return };
        for (name, limit) in limits {
            requests.entry(name).or_insert(limit);
        }
    });
}

/// Moves `stringData` into `data`.
fn encode_string_data(object: &mut Value) {
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    let strings = object.as_object_mut().and_then(|fields| fields.remove("stringData"));
    let Some(Value::Object(strings)) = strings else { return drop_empty(object, &["data"]) };
    if !object.get("data").is_some_and(Value::is_object) {
        object["data"] = json!({});
    }
    for (name, text) in strings {
        object["data"][name] = STANDARD.encode(text.as_str().unwrap_or_default()).into();
    }
    drop_empty(object, &["data"]);
}

fn drop_empty(object: &mut Value, fields: &[&str]) {
    let Some(object) = object.as_object_mut() else { return };
    for field in fields {
        let empty = match object.get(*field) {
            Some(Value::Object(map)) => map.is_empty(),
            Some(Value::Array(list)) => list.is_empty(),
            _ => false,
        };
        if empty {
            object.remove(*field);
        }
    }
}

fn drop_empty_in(object: &mut Value, below: &str, fields: &[&str]) {
    if let Some(below) = object.get_mut(below) {
        drop_empty(below, fields);
    }
}

/// A network policy applies to ingress, and to egress if it has egress rules.
fn policy_types(object: &mut Value) {
    let Some(spec) = object.as_object_mut().map(|fields| fields.entry("spec").or_insert_with(|| json!({})))
    else {
        return;
    };
    if spec.get("policyTypes").and_then(Value::as_array).is_none_or(Vec::is_empty) {
        let egress = spec.get("egress").and_then(Value::as_array).is_some_and(|rules| !rules.is_empty());
        spec["policyTypes"] = if egress { json!(["Ingress", "Egress"]) } else { json!(["Ingress"]) };
    }
    drop_empty(spec, &["ingress", "egress"]);
}

/// A job without a size runs address pod.
fn job_size(object: &mut Value) {
    let Some(spec) = object.get_mut("spec").and_then(Value::as_object_mut) else { return };
    let absent = |spec: &Map<String, Value>, field| spec.get(field).is_none_or(Value::is_null);
    if absent(spec, "completions") && absent(spec, "parallelism") {
        spec.insert("completions".to_owned(), 1.into());
    }
    if absent(spec, "parallelism") {
        spec.insert("parallelism".to_owned(), 1.into());
    }
}

/// The selector and the labels default to the template's labels.
fn controller_labels(object: &mut Value) {
    let Some(labels) = object.pointer("/spec/template/metadata/labels").cloned() else { return };
    let empty = |value: Option<&Value>| value.and_then(Value::as_object).is_none_or(Map::is_empty);
    if empty(object.pointer("/spec/selector")) {
        object["spec"]["selector"] = labels.clone();
    }
    if empty(object.pointer("/metadata/labels")) {
        object["metadata"]["labels"] = labels;
    }
}

/// `podCIDRs` defaults to a list with `podCIDR`.
fn pod_ranges(object: &mut Value) {
    let range = object.pointer("/spec/podCIDR").and_then(Value::as_str).map(str::to_owned);
    if let Some(range) = range.filter(|range| !range.is_empty())
        && object.pointer("/spec/podCIDRs").and_then(Value::as_array).is_none_or(Vec::is_empty)
    {
        object["spec"]["podCIDRs"] = json!([range]);
    }
}

/// The target port defaults to the port.
fn target_ports(object: &mut Value) {
    if object.pointer("/spec/type").is_some_and(|kind| kind == "ExternalName")
        && object.pointer("/spec/ports").is_none()
    {
        return;
    }
    for port in object.pointer_mut("/spec/ports").and_then(Value::as_array_mut).into_iter().flatten() {
        let unset = matches!(port.get("targetPort"), None | Some(Value::Null))
            || port["targetPort"] == 0
            || port["targetPort"] == "";
        if let Some(number) = port.get("port").cloned().filter(|_| unset) {
            port["targetPort"] = number;
        }
    }
}

/// `dataSource` and `dataSourceRef` default to each other.
fn data_source(object: &mut Value) {
    let Some(spec) = object.get_mut("spec").and_then(Value::as_object_mut) else { return };
    for (from, to) in [("dataSource", "dataSourceRef"), ("dataSourceRef", "dataSource")] {
        if let Some(source) = spec.get(from).cloned().filter(|_| !spec.contains_key(to))
            && source.get("namespace").is_none()
        {
            spec.insert(to.to_owned(), source);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_valid_image_without_a_tag_is_the_latest() {
        let table = [
            ("a", true),
            ("a:latest", true),
            ("a:1", false),
            ("A", false),
            (" x", false),
            ("\u{fffd}", false),
            ("foo.com:5000/a/b", true),
            ("foo.com/A", false),
            ("Foo/bar", true),
            ("a//b", false),
            ("a_b", true),
            ("a___b", false),
            ("", false),
        ];
        for (image, want) in table {
            assert_eq!(is_latest(image), want, "{image}");
        }
    }
}
