//! Defaults that follow from other fields.

use serde_json::{Map, Value, json};

use crate::object::strategy;

/// What decides which defaults a table sets.
pub(super) fn before(kind: &str, object: &mut Value) {
    match kind {
        "v1 Secret" => encode_texts(object),
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
        "v1 LimitRange" => limits(object),
        "v1 Namespace" => strategy::label_namespace(object),
        _ => {}
    }
    if let Some(spec) = pod_spec(kind, object) {
        containers(spec);
    }
}

/// What follows from what a table has set.
pub(super) fn after(kind: &str, object: &mut Value) {
    match kind {
        "v1 Pod" => {
            object.get_mut("spec").into_iter().for_each(requests_from_limits);
            object.get_mut("status").into_iter().for_each(pod_addresses);
        }
        "v1 Service" => {
            target_ports(object);
            affinity(object);
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

/// How long a client stays with its endpoint, where it stays with one.
fn affinity(service: &mut Value) {
    let spec = &mut service["spec"];
    let said =
        spec.pointer("/sessionAffinityConfig/clientIP/timeoutSeconds").is_some_and(|said| !said.is_null());
    match spec["sessionAffinity"].as_str() {
        Some("None") => {
            spec.as_object_mut().into_iter().for_each(|spec| {
                spec.remove("sessionAffinityConfig");
            });
        }
        Some("ClientIP") if !said => {
            spec["sessionAffinityConfig"] = json!({"clientIP": {"timeoutSeconds": 10_800}});
        }
        _ => {}
    }
}

/// Who is reached from outside by addresses of its own has a policy for it as well.
fn external_traffic(service: &mut Value) {
    let spec = &mut service["spec"];
    let listed = spec.get("externalIPs").and_then(Value::as_array).is_some_and(|list| !list.is_empty());
    let said = spec.get("externalTrafficPolicy").is_some_and(|policy| policy != "" && !policy.is_null());
    if listed && !said && spec["type"] == "ClusterIP" {
        spec["externalTrafficPolicy"] = "Cluster".into();
    }
}

/// The one address of a pod is the first of its many, and the other way round.
fn pod_addresses(status: &mut Value) {
    let first = status.pointer("/podIPs/0/ip").cloned();
    match (first, status["podIP"].clone()) {
        (None, Value::String(one)) if !one.is_empty() => status["podIPs"] = json!([{"ip": one}]),
        (Some(first), Value::Null) => status["podIP"] = first,
        (None, Value::Null) => {
            status.as_object_mut().into_iter().for_each(|status| {
                status.remove("podIP");
            });
        }
        _ => {}
    }
}

/// Go's type keeps the number of a template where older versions had it; the server counts it later.
fn template_generation(set: &mut Value) {
    if !set["metadata"].is_object() {
        set["metadata"] = json!({});
    }
    let annotations = &mut set["metadata"]["annotations"];
    if !annotations.is_object() {
        *annotations = json!({});
    }
    let number = &mut annotations[strategy::TEMPLATE_GENERATION];
    if number.is_null() {
        *number = "0".into();
    }
}

/// A job that was made and has no labels has those of its pods; a new one gets them when its pods have all of theirs.
fn job_labels(job: &mut Value) {
    let pods = job.pointer("/spec/template/metadata/labels").cloned().unwrap_or_default();
    let own = job["metadata"].get("labels").and_then(Value::as_object).is_some_and(|own| !own.is_empty());
    if !own && pods.get("batch.kubernetes.io/controller-uid").is_some() && job["metadata"].is_object() {
        job["metadata"]["labels"] = pods;
    }
}

/// The specification of the pods that an object is or makes.
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

fn each_container(spec: &mut Value, mut act: impl FnMut(&mut Value)) {
    for list in ["containers", "initContainers", "ephemeralContainers"] {
        spec.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten().for_each(&mut act);
    }
}

/// Containers get what they may have at most, and ask for what they get, or for what they must have at least.
fn limits(range: &mut Value) {
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

/// Images without a tag, or with the latest, are pulled always.
fn containers(spec: &mut Value) {
    each_container(spec, |container| {
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

fn is_latest(image: &str) -> bool {
    let (name, digest) = image.split_once('@').map_or((image, None), |(name, digest)| (name, Some(digest)));
    let last = name.rsplit('/').next().unwrap_or(name);
    // What is no name of an image has no tag that would be left out.
    if image.contains(char::is_whitespace) {
        return false;
    }
    match last.split_once(':') {
        Some((_, tag)) => tag == "latest",
        None => digest.is_none(),
    }
}

/// On the host's network a container's port is the host's.
fn host_ports(spec: &mut Value) {
    if spec.get("hostNetwork") != Some(&Value::Bool(true)) {
        return;
    }
    each_container(spec, |container| {
        for port in container.get_mut("ports").and_then(Value::as_array_mut).into_iter().flatten() {
            let unset = port.get("hostPort").and_then(Value::as_i64).unwrap_or_default() == 0;
            if let Some(number) = port.get("containerPort").cloned().filter(|_| unset) {
                port["hostPort"] = number;
            }
        }
    });
}

/// Both names of the field say the same.
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

/// What is limited and not requested is requested up to the limit.
fn requests_from_limits(spec: &mut Value) {
    each_container(spec, |container| {
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

/// `stringData` goes into `data`.
fn encode_texts(object: &mut Value) {
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    let texts = object.as_object_mut().and_then(|fields| fields.remove("stringData"));
    let Some(Value::Object(texts)) = texts else { return drop_empty(object, &["data"]) };
    if !object.get("data").is_some_and(Value::is_object) {
        object["data"] = json!({});
    }
    for (name, text) in texts {
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

/// A policy is about what comes in, and about what goes out where it has rules for that.
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

/// A job that says nothing of its size runs one pod.
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

/// Selector and labels follow the template's labels.
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

/// Both fields name the first range.
fn pod_ranges(object: &mut Value) {
    let range = object.pointer("/spec/podCIDR").and_then(Value::as_str).map(str::to_owned);
    if let Some(range) = range.filter(|range| !range.is_empty())
        && object.pointer("/spec/podCIDRs").and_then(Value::as_array).is_none_or(Vec::is_empty)
    {
        object["spec"]["podCIDRs"] = json!([range]);
    }
}

/// A port leads to the same port of the pods.
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

/// Both names of the source say the same.
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
