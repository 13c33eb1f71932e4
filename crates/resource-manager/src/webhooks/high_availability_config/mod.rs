//! Makes components survive the loss of a node or a zone: sets replicas, spread constraints, zones and tolerations:
//! `contracts/resource-manager/webhooks/high-availability-config`.

mod namespace;
mod node_affinity;
mod replicas;
mod tolerations;
mod topology_spread;

use serde_json::Value;
use webhook::rejection::Rejection;
use webhook::review::GroupVersionKind;

pub use self::namespace::{FailureTolerance, Namespace};
use crate::config::HighAvailabilityConfig;
use crate::decoding::expect;

/// Name of the webhook.
pub const NAME: &str = "high-availability-config";
/// Its path.
pub const PATH: &str = "/webhooks/high-availability-config";

/// Facts about the cluster for the change of one object.
#[derive(Clone, Copy, Debug)]
pub struct ObjectFacts<'a> {
    /// The object's namespace.
    pub namespace: &'a Namespace,
    /// `maxReplicas` of the HorizontalPodAutoscaler or Hvpa that scales the object; `None` if none does.
    pub scaled_up_to: Option<i64>,
}

/// Kinds that are made highly available, by the fields to change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HandledKind {
    /// A Deployment or StatefulSet.
    Workload,
    /// A HorizontalPodAutoscaler of a known version.
    HorizontalPodAutoscaler,
    /// An Hvpa.
    Hvpa,
}

/// Whether [`mutate`] handles a kind, in any version.
///
/// GRM-HAC-075.
#[must_use]
pub fn handles(kind: &GroupVersionKind) -> bool {
    matches!(
        (kind.group.as_str(), kind.kind.as_str()),
        ("apps", "Deployment" | "StatefulSet")
            | ("autoscaling", "HorizontalPodAutoscaler")
            | ("autoscaling.k8s.io", "Hvpa")
    )
}

/// Makes one object highly available; a kind that it does not handle stays unchanged.
///
/// GRM-HAC-065, GRM-HAC-079.
///
/// # Errors
/// 403 when an annotation is not a number or a version is unknown, or when a field has the wrong type.
pub fn mutate(
    config: &HighAvailabilityConfig,
    facts: ObjectFacts<'_>,
    kind: &GroupVersionKind,
    object: &mut Value,
) -> Result<(), Rejection> {
    let Some(class) = classify(kind)? else { return Ok(()) };
    let GroupVersionKind { group, version, kind } = kind;
    expect(&format!("{group}/{version}"), kind, object)
        .and_then(|()| change(config, facts, class, object))
        .map_err(|rejection| Rejection::forbidden(rejection.message))
}

fn change(
    config: &HighAvailabilityConfig,
    facts: ObjectFacts<'_>,
    kind: HandledKind,
    object: &mut Value,
) -> Result<(), Rejection> {
    let tolerance = facts.namespace.failure_tolerance;
    match kind {
        HandledKind::HorizontalPodAutoscaler => replicas::mutate_autoscaler(tolerance, &["spec"], object),
        HandledKind::Hvpa => {
            replicas::mutate_autoscaler(tolerance, &["spec", "hpa", "template", "spec"], object)
        }
        HandledKind::Workload => {
            replicas::mutate_workload(tolerance, facts.scaled_up_to, object)?;
            node_affinity::mutate(facts.namespace, object)?;
            topology_spread::mutate(facts, object)?;
            tolerations::mutate(config, object)
        }
    }
}

/// GRM-HAC-025, GRM-HAC-026.
fn classify(kind: &GroupVersionKind) -> Result<Option<HandledKind>, Rejection> {
    Ok(match (kind.group.as_str(), kind.kind.as_str(), kind.version.as_str()) {
        ("apps", "Deployment" | "StatefulSet", _) => Some(HandledKind::Workload),
        ("autoscaling", "HorizontalPodAutoscaler", "v2" | "v2beta1") => {
            Some(HandledKind::HorizontalPodAutoscaler)
        }
        ("autoscaling", "HorizontalPodAutoscaler", version) => {
            let message = format!("autoscaling version {version:?} in request is not supported");
            return Err(Rejection::forbidden(message));
        }
        ("autoscaling.k8s.io", "Hvpa", _) => Some(HandledKind::Hvpa),
        _ => None,
    })
}
