//! Whether traffic to a Service stays in its zone.

use api::resources::ENDPOINT_SLICE_HINTS_CONSIDER;
use serde_json::{Value, json};

use super::values::GardenValues;

/// Annotation of a Service since Kubernetes 1.27.
const TOPOLOGY_MODE: &str = "service.kubernetes.io/topology-mode";
/// Annotation of a Service before.
const TOPOLOGY_AWARE_HINTS: &str = "service.kubernetes.io/topology-aware-hints";

/// The label and the annotations, as JSON pointers.
pub const FIELDS: [&str; 3] = [
    "/metadata/labels/endpoint-slice-hints.resources.gardener.cloud~1consider",
    "/metadata/annotations/service.kubernetes.io~1topology-mode",
    "/metadata/annotations/service.kubernetes.io~1topology-aware-hints",
];

/// Sets the label and the annotation of a Service, or removes them. OPC-019.
pub fn set_routing(service: &mut Value, values: &GardenValues<'_>) {
    let metadata = &mut service["metadata"];
    if !values.has_topology_aware_routing() {
        remove(metadata, "annotations", TOPOLOGY_MODE);
        remove(metadata, "annotations", TOPOLOGY_AWARE_HINTS);
        remove(metadata, "labels", ENDPOINT_SLICE_HINTS_CONSIDER);
        return;
    }
    let has_mode = !values.runtime_version.is_below(1, 27);
    if has_mode {
        remove(metadata, "annotations", TOPOLOGY_AWARE_HINTS);
    }
    let annotation = if has_mode { TOPOLOGY_MODE } else { TOPOLOGY_AWARE_HINTS };
    set(metadata, "annotations", annotation, "auto");
    set(metadata, "labels", ENDPOINT_SLICE_HINTS_CONSIDER, "true");
}

fn set(metadata: &mut Value, field: &str, key: &str, value: &str) {
    match &mut metadata[field] {
        Value::Object(entries) => {
            entries.insert(key.to_owned(), value.into());
        }
        other => *other = json!({ key: value }),
    }
}

fn remove(metadata: &mut Value, field: &str, key: &str) {
    if let Some(entries) = metadata.get_mut(field).and_then(Value::as_object_mut) {
        entries.remove(key);
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::components::fixture::Fixture;

    #[rstest]
    #[case::off(false, "1.27.0", json!({"labels": {"own": "a"}, "annotations": {"own": "a"}}))]
    #[case::since_1_27(true, "1.27.0", json!({
        "labels": {"own": "a", "endpoint-slice-hints.resources.gardener.cloud/consider": "true"},
        "annotations": {"own": "a", "service.kubernetes.io/topology-mode": "auto"},
    }))]
    #[case::before(true, "1.26.9", json!({
        "labels": {"own": "a", "endpoint-slice-hints.resources.gardener.cloud/consider": "true"},
        "annotations": {
            "own": "a", "service.kubernetes.io/topology-aware-hints": "auto",
            "service.kubernetes.io/topology-mode": "auto",
        },
    }))]
    fn routing_follows_setting_and_version(
        #[case] enabled: bool,
        #[case] version: &str,
        #[case] want: Value,
    ) {
        let settings = json!({"spec": {"runtimeCluster": {"settings": {
            "topologyAwareRouting": {"enabled": enabled},
        }}}});
        let fixture = Fixture::with(&settings).on_runtime(version);
        let mut service = json!({"metadata": {
            "labels": {"own": "a", "endpoint-slice-hints.resources.gardener.cloud/consider": "true"},
            "annotations": {
                "own": "a", "service.kubernetes.io/topology-mode": "auto",
                "service.kubernetes.io/topology-aware-hints": "auto",
            },
        }});
        set_routing(&mut service, &fixture.values());
        assert_eq!(service["metadata"], want);
    }
}
