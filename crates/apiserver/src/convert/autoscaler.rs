//! `autoscaling/v1` has one metric, CPU utilization, as a number; annotations hold the other fields of v2.

use serde_json::{Map, Value, json};

use crate::object::meta;

const METRICS: &str = "autoscaling.alpha.kubernetes.io/metrics";
pub(super) const BEHAVIOR: &str = "autoscaling.alpha.kubernetes.io/behavior";

/// From v1.
pub(super) fn to_v2(autoscaler: &mut Value) {
    let (metrics, behavior) = (take_annotation(autoscaler, METRICS), take_annotation(autoscaler, BEHAVIOR));
    let mut metrics = metrics.and_then(|value| value.as_array().cloned()).unwrap_or_default();
    if let Some(spec) = autoscaler.get_mut("spec").and_then(Value::as_object_mut) {
        if let Some(target) = spec.remove("targetCPUUtilizationPercentage") {
            metrics.insert(0, cpu("target", json!({"type": "Utilization", "averageUtilization": target})));
        }
        insert_some(spec, "metrics", (!metrics.is_empty()).then_some(Value::Array(metrics)));
        insert_some(spec, "behavior", behavior);
    }
    if let Some(status) = autoscaler.get_mut("status").and_then(Value::as_object_mut)
        && let Some(current) = status.remove("currentCPUUtilizationPercentage")
    {
        let metric = cpu("current", json!({"averageUtilization": current}));
        status.insert("currentMetrics".to_owned(), json!([metric]));
    }
}

/// To v1.
pub(super) fn to_v1(autoscaler: &mut Value) {
    let (mut metrics, mut behavior) = (Vec::new(), None);
    if let Some(spec) = autoscaler.get_mut("spec").and_then(Value::as_object_mut) {
        metrics = take_list(spec, "metrics");
        behavior = spec.remove("behavior");
        let target = metrics.iter().position(|metric| utilization(metric, "target").is_some());
        if let Some(target) = target.and_then(|at| utilization(&metrics.remove(at), "target")) {
            spec.insert("targetCPUUtilizationPercentage".to_owned(), target);
        }
    }
    if let Some(status) = autoscaler.get_mut("status").and_then(Value::as_object_mut) {
        let current = take_list(status, "currentMetrics");
        insert_some(
            status,
            "currentCPUUtilizationPercentage",
            current.iter().find_map(|metric| utilization(metric, "current")),
        );
        status.remove("conditions");
    }
    set_annotation(autoscaler, METRICS, (!metrics.is_empty()).then_some(Value::Array(metrics)));
    set_annotation(autoscaler, BEHAVIOR, behavior);
}

fn cpu(field: &str, value: Value) -> Value {
    let mut resource = json!({"name": "cpu"});
    resource[field] = value;
    json!({"type": "Resource", "resource": resource})
}

fn utilization(metric: &Value, field: &str) -> Option<Value> {
    let resource = metric.get("resource").filter(|resource| resource["name"] == "cpu")?;
    resource.get(field)?.get("averageUtilization").cloned()
}

fn take_list(fields: &mut Map<String, Value>, name: &str) -> Vec<Value> {
    match fields.remove(name) {
        Some(Value::Array(items)) => items,
        _ => Vec::new(),
    }
}

fn insert_some(fields: &mut Map<String, Value>, name: &str, value: Option<Value>) {
    if let Some(value) = value {
        fields.insert(name.to_owned(), value);
    }
}

pub(super) fn set_annotation(object: &mut Value, key: &str, value: Option<Value>) {
    if let Some(value) = value {
        let annotations = meta::of_mut(object).entry("annotations").or_insert_with(|| json!({}));
        annotations[key] = value.to_string().into();
    }
}

pub(super) fn take_annotation(object: &mut Value, key: &str) -> Option<Value> {
    let metadata = meta::of_mut(object);
    let annotations = metadata.get_mut("annotations")?.as_object_mut()?;
    let text = annotations.remove(key)?;
    if annotations.is_empty() {
        metadata.remove("annotations");
    }
    formats::json::document(text.as_str()?.as_bytes()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_v2_only_survive_v1() {
        let target = |name: &str| {
            json!({"type": "Resource", "resource": {
                "name": name, "target": {"type": "Utilization", "averageUtilization": 80},
            }})
        };
        let v2 = json!({
            "metadata": {"name": "a"},
            "spec": {"maxReplicas": 3, "metrics": [target("cpu"), target("memory")], "behavior": {"scaleUp": {}}},
        });
        let mut v1 = v2.clone();
        to_v1(&mut v1);
        assert_eq!(v1["spec"], json!({"maxReplicas": 3, "targetCPUUtilizationPercentage": 80}));
        to_v2(&mut v1);
        assert_eq!(v1, v2);
    }
}
