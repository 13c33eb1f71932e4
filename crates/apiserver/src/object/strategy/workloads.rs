//! What the server sets in jobs, daemon sets and pods.

use serde_json::{Map, Value, json};

use crate::object::meta;

/// Sets the labels and the selector by which a job finds its pods, unless it has a manual selector.
pub(super) fn add_job_labels(job: &mut Value) {
    if job.pointer("/spec/manualSelector") == Some(&Value::Bool(true)) || !job["spec"].is_object() {
        return;
    }
    let (uid, name) = (meta::text(job, "uid").to_owned(), meta::name(job).to_owned());
    let labels = [
        ("batch.kubernetes.io/controller-uid", &uid),
        ("batch.kubernetes.io/job-name", &name),
        ("controller-uid", &uid),
        ("job-name", &name),
    ];
    let template = &mut job["spec"]["template"];
    if template.is_object() {
        let metadata = &mut template["metadata"];
        if !metadata.is_object() {
            *metadata = json!({});
        }
        add(metadata, "labels", labels.map(|(key, value)| (key, value.as_str())));
    }
    // A job without labels gets those of its pods.
    let pods = job.pointer("/spec/template/metadata/labels").and_then(Value::as_object).cloned();
    let own = job["metadata"].get("labels").and_then(Value::as_object).is_some_and(|own| !own.is_empty());
    if let Some(pods) = pods.filter(|_| !own) {
        job["metadata"]["labels"] = Value::Object(pods);
    }
    if job.pointer("/spec/selector/matchLabels").is_none() {
        let selector = json!({"batch.kubernetes.io/controller-uid": uid});
        match job.pointer_mut("/spec/selector").and_then(Value::as_object_mut) {
            Some(own) => own.insert("matchLabels".to_owned(), selector),
            None => job["spec"]
                .as_object_mut()
                .and_then(|spec| spec.insert("selector".to_owned(), json!({"matchLabels": selector}))),
        };
    }
}

/// Sets the template generation of a daemon set: the old one, plus one if the template changed.
pub(super) fn set_template_generation(set: &mut Value, old: Option<&Value>) {
    let annotated = |set: &Value| meta::of(set).get("annotations")?.get(meta::TEMPLATE_GENERATION).cloned();
    let number = match old {
        None => "1".to_owned(),
        Some(old) => {
            let before = annotated(old).and_then(|value| value.as_str()?.parse::<i64>().ok()).unwrap_or(0);
            let changed = set.pointer("/spec/template") != old.pointer("/spec/template");
            (before + i64::from(changed)).to_string()
        }
    };
    add(&mut set["metadata"], "annotations", [(meta::TEMPLATE_GENERATION, number.as_str())]);
}

/// Keeps the template generation of a daemon set.
pub(super) fn keep_template_generation(set: &mut Value, old: &Value) {
    let number =
        meta::of(old).get("annotations").and_then(|all| all.get(meta::TEMPLATE_GENERATION)?.as_str());
    add(&mut set["metadata"], "annotations", [(meta::TEMPLATE_GENERATION, number.unwrap_or("0"))]);
}

/// The QoS class of a pod, from the requests and limits of its containers.
pub(super) fn qos_class(pod: &Value) -> &'static str {
    let lists = ["containers", "initContainers"].map(|list| pod.pointer(&format!("/spec/{list}")));
    let containers: Vec<&Value> = lists.into_iter().flatten().filter_map(Value::as_array).flatten().collect();
    let amounts = |container: &Value, which: &str| -> Map<String, Value> {
        let found = container.pointer(&format!("/resources/{which}")).and_then(Value::as_object);
        let relevant = found.into_iter().flatten().filter(|(name, amount)| {
            matches!(name.as_str(), "cpu" | "memory") && amount.as_str() != Some("0")
        });
        relevant.map(|(name, amount)| (name.clone(), amount.clone())).collect()
    };
    let nothing = |container: &&Value| {
        amounts(container, "requests").is_empty() && amounts(container, "limits").is_empty()
    };
    let all = |container: &&Value| {
        let limits = amounts(container, "limits");
        limits.len() == 2 && amounts(container, "requests") == limits
    };
    if containers.iter().all(nothing) {
        "BestEffort"
    } else if containers.iter().all(all) {
        "Guaranteed"
    } else {
        "Burstable"
    }
}

fn add<const N: usize>(metadata: &mut Value, field: &str, entries: [(&str, &str); N]) {
    let Some(metadata) = metadata.as_object_mut() else { return };
    let map = metadata.entry(field).or_insert_with(|| json!({}));
    for (key, value) in entries {
        if let Some(map) = map.as_object_mut() {
            map.insert(key.to_owned(), value.into());
        }
    }
}
