//! `autoscaling/v2beta1` has the fields of a metric's identifier and target in the metric itself; an annotation holds the
//! behavior.

use serde_json::{Map, Value, json};

use super::autoscaler::{self, BEHAVIOR};

/// The names in v2beta1 of a metric source's fields: those of its target or current value, and those of its identifier.
struct MetricNames {
    source: &'static str,
    /// Name in v2beta1, and in `target` or `current` of v2. The first one determines the type of a target.
    values: &'static [(&'static str, &'static str)],
    /// The type of a target with its first value, and without it.
    types: (&'static str, &'static str),
    /// Name in v2beta1 of the selector, if metrics of this source have names.
    selector: Option<&'static str>,
}

const RESOURCE: (&str, &str) = ("Utilization", "AverageValue");
const VALUE: (&str, &str) = ("Value", "AverageValue");

const TARGETS: [MetricNames; 5] = [
    MetricNames {
        source: "resource",
        values: &[("targetAverageUtilization", "averageUtilization"), ("targetAverageValue", "averageValue")],
        types: RESOURCE,
        selector: None,
    },
    MetricNames {
        source: "containerResource",
        values: &[("targetAverageUtilization", "averageUtilization"), ("targetAverageValue", "averageValue")],
        types: RESOURCE,
        selector: None,
    },
    MetricNames {
        source: "pods",
        values: &[("targetAverageValue", "averageValue")],
        types: ("AverageValue", "AverageValue"),
        selector: Some("selector"),
    },
    MetricNames {
        source: "object",
        values: &[("averageValue", "averageValue"), ("targetValue", "value")],
        types: ("AverageValue", "Value"),
        selector: Some("selector"),
    },
    MetricNames {
        source: "external",
        values: &[("targetValue", "value"), ("targetAverageValue", "averageValue")],
        types: VALUE,
        selector: Some("metricSelector"),
    },
];

const CURRENT: [MetricNames; 5] = [
    MetricNames {
        source: "resource",
        values: &[
            ("currentAverageUtilization", "averageUtilization"),
            ("currentAverageValue", "averageValue"),
        ],
        types: RESOURCE,
        selector: None,
    },
    MetricNames {
        source: "containerResource",
        values: &[
            ("currentAverageUtilization", "averageUtilization"),
            ("currentAverageValue", "averageValue"),
        ],
        types: RESOURCE,
        selector: None,
    },
    MetricNames {
        source: "pods",
        values: &[("currentAverageValue", "averageValue")],
        types: VALUE,
        selector: Some("selector"),
    },
    MetricNames {
        source: "object",
        values: &[("currentValue", "value"), ("averageValue", "averageValue")],
        types: VALUE,
        selector: Some("selector"),
    },
    MetricNames {
        source: "external",
        values: &[("currentValue", "value"), ("currentAverageValue", "averageValue")],
        types: VALUE,
        selector: Some("metricSelector"),
    },
];

/// From v2beta1.
pub(super) fn to_v2(autoscaler: &mut Value) {
    let behavior = autoscaler::take_annotation(autoscaler, BEHAVIOR);
    if let (Some(behavior), Some(spec)) =
        (behavior, autoscaler.get_mut("spec").and_then(Value::as_object_mut))
    {
        spec.insert("behavior".to_owned(), behavior);
    }
    for_each_metric(autoscaler, |source, names, holder| names.nest(source, holder));
}

/// To v2beta1.
pub(super) fn to_v2beta1(autoscaler: &mut Value) {
    let spec = autoscaler.get_mut("spec").and_then(Value::as_object_mut);
    let behavior = spec.and_then(|spec| spec.remove("behavior"));
    autoscaler::set_annotation(autoscaler, BEHAVIOR, behavior);
    for_each_metric(autoscaler, |source, names, holder| names.flatten(source, holder));
}

/// Calls a function with the source of each metric, its names, and the field of v2 that holds its values.
fn for_each_metric(autoscaler: &mut Value, act: impl Fn(&mut Map<String, Value>, &MetricNames, &str)) {
    let lists = [("/spec/metrics", &TARGETS, "target"), ("/status/currentMetrics", &CURRENT, "current")];
    for (list, all_names, holder) in lists {
        for metric in autoscaler.pointer_mut(list).and_then(Value::as_array_mut).into_iter().flatten() {
            for names in all_names {
                if let Some(source) = metric.get_mut(names.source).and_then(Value::as_object_mut) {
                    act(source, names, holder);
                }
            }
        }
    }
}

impl MetricNames {
    /// Moves the fields of v2beta1 into the identifier, the described object, and the target or current value.
    fn nest(&self, source: &mut Map<String, Value>, holder: &str) {
        if self.source == "object"
            && let Some(described) = source.remove("target")
        {
            source.insert("describedObject".to_owned(), described);
        }
        let mut values = Map::new();
        let has_first = self.values.first().is_some_and(|(flat, _)| source.contains_key(*flat));
        for (flat, nested) in self.values {
            if let Some(value) = source.remove(*flat) {
                values.insert((*nested).to_owned(), value);
            }
        }
        if holder == "target" {
            values.insert("type".to_owned(), json!(if has_first { self.types.0 } else { self.types.1 }));
        }
        source.insert(holder.to_owned(), Value::Object(values));
        if let Some(selector) = self.selector {
            let mut identifier = Map::new();
            for (flat, nested) in [("metricName", "name"), (selector, "selector")] {
                if let Some(value) = source.remove(flat) {
                    identifier.insert(nested.to_owned(), value);
                }
            }
            source.insert("metric".to_owned(), Value::Object(identifier));
        }
    }

    /// The reverse of [`Self::nest`].
    fn flatten(&self, source: &mut Map<String, Value>, holder: &str) {
        let mut values = take_map(source, holder);
        for (flat, nested) in self.values {
            if let Some(value) = values.remove(*nested) {
                source.insert((*flat).to_owned(), value);
            }
        }
        if let Some(selector) = self.selector {
            let mut identifier = take_map(source, "metric");
            for (flat, nested) in [("metricName", "name"), (selector, "selector")] {
                if let Some(value) = identifier.remove(nested) {
                    source.insert(flat.to_owned(), value);
                }
            }
        }
        if let Some(described) = source.remove("describedObject") {
            source.insert("target".to_owned(), described);
        }
    }
}

fn take_map(fields: &mut Map<String, Value>, name: &str) -> Map<String, Value> {
    match fields.remove(name) {
        Some(Value::Object(map)) => map,
        _ => Map::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_move_between_both_forms() {
        let selector = json!({"matchLabels": {"a": "b"}});
        let object = json!({"kind": "Deployment", "name": "x"});
        let old = json!({
            "metadata": {"annotations": {BEHAVIOR: r#"{"scaleUp":{}}"#}},
            "spec": {"metrics": [
                {"type": "Resource", "resource": {"name": "cpu", "targetAverageUtilization": 80}},
                {"type": "Resource", "resource": {"name": "memory", "targetAverageValue": "1Gi"}},
                {"type": "Pods", "pods": {"metricName": "m", "targetAverageValue": "3", "selector": selector}},
                {"type": "Object", "object": {"metricName": "m", "target": object, "targetValue": "4"}},
                {"type": "External", "external": {"metricName": "m", "metricSelector": selector, "targetValue": "5"}},
            ]},
            "status": {"currentMetrics": [
                {"type": "Resource", "resource": {"name": "cpu", "currentAverageUtilization": 7, "currentAverageValue": "7m"}},
                {"type": "External", "external": {"metricName": "m", "currentValue": "6"}},
            ]},
        });
        let new = json!({
            "metadata": {},
            "spec": {"behavior": {"scaleUp": {}}, "metrics": [
                {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}}},
                {"type": "Resource", "resource": {"name": "memory", "target": {"type": "AverageValue", "averageValue": "1Gi"}}},
                {"type": "Pods", "pods": {"metric": {"name": "m", "selector": selector}, "target": {"type": "AverageValue", "averageValue": "3"}}},
                {"type": "Object", "object": {"metric": {"name": "m"}, "describedObject": object, "target": {"type": "Value", "value": "4"}}},
                {"type": "External", "external": {"metric": {"name": "m", "selector": selector}, "target": {"type": "Value", "value": "5"}}},
            ]},
            "status": {"currentMetrics": [
                {"type": "Resource", "resource": {"name": "cpu", "current": {"averageUtilization": 7, "averageValue": "7m"}}},
                {"type": "External", "external": {"metric": {"name": "m"}, "current": {"value": "6"}}},
            ]},
        });
        let mut autoscaler = old.clone();
        to_v2(&mut autoscaler);
        assert_eq!(autoscaler, new);
        to_v2beta1(&mut autoscaler);
        assert_eq!(autoscaler, old);
    }
}
