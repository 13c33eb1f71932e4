//! Spreads the Pods of one component over nodes, and over zones if there are several.

use api::kubernetes::{TOPOLOGY_HOSTNAME, TOPOLOGY_ZONE};
use serde_json::{Value, json};
use webhook::object::{self, WrongType};
use webhook::rejection::Rejection;

use super::{FailureTolerance, Namespace, ObjectFacts};

const CONSTRAINTS: [&str; 4] = ["spec", "template", "spec", "topologySpreadConstraints"];

/// Replaces the constraints over nodes and zones of a workload with more than one replica; others stay, first.
///
/// GRM-HAC-053, GRM-HAC-054, GRM-HAC-055, GRM-HAC-057.
pub(super) fn mutate(facts: ObjectFacts<'_>, workload: &mut Value) -> Result<(), Rejection> {
    let replicas = object::integer(workload, &["spec", "replicas"])?.unwrap_or_default();
    if replicas <= 1 {
        return Ok(());
    }
    let max_replicas = facts.scaled_up_to.map_or(replicas, |max| max.max(replicas));
    let selector = selector(workload)?;
    let over_zones = over_zones(facts.namespace, max_replicas, &selector);
    let constraints = object::list_mut(workload, &CONSTRAINTS)?;
    constraints.retain(|constraint| {
        !matches!(constraint["topologyKey"].as_str(), Some(TOPOLOGY_HOSTNAME | TOPOLOGY_ZONE))
    });
    constraints.push(over_nodes(facts.namespace, selector));
    constraints.extend(over_zones);
    Ok(())
}

/// Selects Pods by all labels of the template; omits the labels if it has none.
///
/// GRM-HAC-051.
fn selector(workload: &Value) -> Result<Value, WrongType> {
    let labels = object::map(workload, &["spec", "template", "metadata", "labels"])?;
    Ok(match labels.filter(|labels| !labels.is_empty()) {
        Some(labels) => json!({"matchLabels": labels}),
        None => json!({}),
    })
}

/// Enforced if the namespace tolerates a failure, otherwise best effort.
///
/// GRM-HAC-050.
fn over_nodes(namespace: &Namespace, selector: Value) -> Value {
    let when_unsatisfiable = match namespace.failure_tolerance {
        FailureTolerance::Unset | FailureTolerance::None => "ScheduleAnyway",
        FailureTolerance::Zone | FailureTolerance::Other => "DoNotSchedule",
    };
    constraint(TOPOLOGY_HOSTNAME, 1, when_unsatisfiable, selector)
}

/// Enforced over several zones, for system components and if the loss of a zone is tolerated.
///
/// With at least two replicas per zone the skew may be 2: otherwise a rollout could get stuck
/// (kubernetes/kubernetes#109364).
///
/// GRM-HAC-052.
fn over_zones(namespace: &Namespace, max_replicas: i64, selector: &Value) -> Option<Value> {
    let zones = i64::try_from(namespace.zones.len()).unwrap_or(i64::MAX);
    let spread = matches!(namespace.failure_tolerance, FailureTolerance::Unset | FailureTolerance::Zone);
    if zones <= 1 || !spread {
        return None;
    }
    let max_skew = if max_replicas >= zones.saturating_mul(2) { 2 } else { 1 };
    let mut constraint = constraint(TOPOLOGY_ZONE, max_skew, "DoNotSchedule", selector.clone());
    constraint["minDomains"] = max_replicas.min(zones).into();
    Some(constraint)
}

fn constraint(topology_key: &str, max_skew: i64, when_unsatisfiable: &str, selector: Value) -> Value {
    let mut constraint = json!({
        "topologyKey": topology_key,
        "maxSkew": max_skew,
        "whenUnsatisfiable": when_unsatisfiable,
    });
    constraint["labelSelector"] = selector;
    constraint
}
