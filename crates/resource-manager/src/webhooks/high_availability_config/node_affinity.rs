//! Keeps Pods in the zones of their namespace.

use api::kubernetes::TOPOLOGY_ZONE;
use serde_json::{Value, json};
use webhook::object;
use webhook::rejection::Rejection;

use super::{FailureTolerance, Namespace};

const TERMS: [&str; 7] = [
    "spec",
    "template",
    "spec",
    "affinity",
    "nodeAffinity",
    "requiredDuringSchedulingIgnoredDuringExecution",
    "nodeSelectorTerms",
];

/// Requires the namespace's zones in every node selector term, replacing other requirements on zones.
///
/// Terms are alternatives, so each must require them; a workload without terms gets one.
///
/// GRM-HAC-040, GRM-HAC-043, GRM-HAC-044.
pub(super) fn mutate(namespace: &Namespace, workload: &mut Value) -> Result<(), Rejection> {
    let pinned = namespace.zone_pinning || namespace.failure_tolerance != FailureTolerance::Unset;
    if namespace.zones.is_empty() || !pinned {
        return Ok(());
    }
    let terms = object::list_mut(workload, &TERMS)?;
    if terms.is_empty() {
        terms.push(json!({}));
    }
    for term in terms {
        let expressions = object::list_mut(term, &["matchExpressions"])?;
        expressions.retain(|expression| expression["key"] != TOPOLOGY_ZONE);
        expressions.push(json!({"key": TOPOLOGY_ZONE, "operator": "In", "values": namespace.zones}));
    }
    Ok(())
}
