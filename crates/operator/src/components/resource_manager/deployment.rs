//! The Deployment of the resource-manager of the runtime cluster. No webhook spreads its Pods, as it serves that webhook itself.

use api::kubernetes::{TAINT_NOT_READY, TAINT_UNREACHABLE, TOPOLOGY_HOSTNAME, TOPOLOGY_ZONE};
use serde_json::{Value, json};

use super::{NAME, PROGRAM};
use crate::components::error::RenderError;
use crate::components::existing::remove_stale;
use crate::components::references;
use crate::components::values::GardenValues;

/// Label of the Pods of one template: those of others do not count when they are spread.
const CHECKSUM: &str = "checksum/pod-template";
const CHECKSUM_DIGITS: usize = 16;
const TOLERATIONS: &str = "/spec/template/spec/tolerations";

/// OPC-025, OPC-029, OPC-031. The checksum covers the template without it; the original's of the same template is another one.
pub(super) fn deployment(values: &GardenValues<'_>, config_map: &Value) -> Result<Value, RenderError> {
    let mut deployment = PROGRAM.deployment(values, config_map)?;
    let tolerated = tolerations(values);
    let pod = &mut deployment["spec"]["template"]["spec"];
    pod["topologySpreadConstraints"] = constraints(values.zones().len()).into();
    if !tolerated.is_empty() {
        pod["tolerations"] = tolerated.into();
    }
    references::annotate(&mut deployment);
    mark_template(&mut deployment["spec"]["template"]);
    let existing = values.observed.existing.get("apps/v1", "Deployment", NAME);
    remove_stale(&mut deployment, existing, &[TOLERATIONS]);
    Ok(deployment)
}

fn tolerations(values: &GardenValues<'_>) -> Vec<Value> {
    let Some(toleration) = &values.config.node_toleration else { return Vec::new() };
    let seconds = [
        (TAINT_NOT_READY, toleration.default_not_ready_toleration_seconds),
        (TAINT_UNREACHABLE, toleration.default_unreachable_toleration_seconds),
    ];
    let tolerated = seconds.into_iter().filter_map(|(taint, seconds)| {
        seconds.map(|seconds| {
            json!({ "key": taint, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": seconds })
        })
    });
    tolerated.collect()
}

/// How Pods are spread over nodes and, if there are several, over zones; each needs a zone of its own, as there are two.
fn constraints(zones: usize) -> Vec<Value> {
    let constraint = |key: &str, otherwise: &str| {
        json!({
            "topologyKey": key,
            "maxSkew": 1,
            "whenUnsatisfiable": otherwise,
            "labelSelector": { "matchLabels": PROGRAM.pod_labels() },
        })
    };
    let mut all = vec![constraint(TOPOLOGY_HOSTNAME, "ScheduleAnyway")];
    if zones > 1 {
        let mut of_zones = constraint(TOPOLOGY_ZONE, "DoNotSchedule");
        of_zones["minDomains"] = 2.into();
        all.push(of_zones);
    }
    all
}

fn mark_template(template: &mut Value) {
    let checksum = references::checksum(&template.to_string());
    let checksum = &checksum[..CHECKSUM_DIGITS];
    template["metadata"]["labels"][CHECKSUM] = checksum.into();
    let spread = template["spec"]["topologySpreadConstraints"].as_array_mut();
    for constraint in spread.into_iter().flatten() {
        constraint["labelSelector"]["matchLabels"][CHECKSUM] = checksum.into();
    }
}
