//! Components survive the loss of a node or a zone: replicas, spread, zones and patience of their Pods:
//! `contracts/resource-manager/webhooks/high-availability-config`.

mod node_affinity;
mod replicas;
mod tolerations;
mod topology_spread;

use api::resources::{HA_FAILURE_TOLERANCE_TYPE, HA_FAILURE_TOLERANCE_ZONE, HA_ZONE_PINNING, HA_ZONES};
use serde_json::Value;
use webhook::rejection::Rejection;
use webhook::review::GroupVersionKind;

use crate::config::HighAvailabilityConfig;
use crate::strconv;

/// Name of the webhook.
pub const NAME: &str = "high-availability-config";
/// Path it answers on.
pub const PATH: &str = "/webhooks/high-availability-config";

/// Which failure the workload of a namespace survives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FailureTolerance {
    /// The namespace does not say: system components.
    #[default]
    Unset,
    /// The namespace says: none.
    None,
    /// The loss of a zone.
    Zone,
    /// Any other, such as the loss of a node.
    Other,
}

/// What a namespace says about the workload in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Namespace {
    /// Which failure its workload survives.
    pub failure_tolerance: FailureTolerance,
    /// Zones its workload runs in, sorted, each once.
    pub zones: Box<[Box<str>]>,
    /// Whether its workload is pinned to these zones although it says nothing about failures.
    pub zone_pinning: bool,
}

impl Namespace {
    /// Reads the annotations of a Namespace.
    pub fn read<'a>(annotation: impl Fn(&str) -> Option<&'a str>) -> Self {
        let failure_tolerance = match annotation(HA_FAILURE_TOLERANCE_TYPE) {
            None => FailureTolerance::Unset,
            Some("") => FailureTolerance::None,
            Some(HA_FAILURE_TOLERANCE_ZONE) => FailureTolerance::Zone,
            Some(_) => FailureTolerance::Other,
        };
        let zones = annotation(HA_ZONES).unwrap_or_default();
        let mut zones: Vec<Box<str>> =
            zones.split(',').filter(|zone| !zone.is_empty()).map(Box::from).collect();
        zones.sort_unstable();
        zones.dedup();
        Self {
            failure_tolerance,
            zones: zones.into(),
            zone_pinning: annotation(HA_ZONE_PINNING).is_some_and(strconv::is_true),
        }
    }
}

/// What is known about the cluster when one object is changed.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    /// The object's namespace.
    pub namespace: &'a Namespace,
    /// `maxReplicas` of the HorizontalPodAutoscaler or Hvpa that scales the object; `None` if none does.
    pub scaled_up_to: Option<i64>,
}

/// Kinds that are made highly available, by what is changed in them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A Deployment or StatefulSet.
    Workload,
    /// A HorizontalPodAutoscaler of a version that is known.
    HorizontalPodAutoscaler,
    /// An Hvpa.
    Hvpa,
}

/// Whether [`mutate`] knows what to do with a kind, in whichever version.
#[must_use]
pub fn handles(kind: &GroupVersionKind) -> bool {
    matches!(
        (kind.group.as_str(), kind.kind.as_str()),
        ("apps", "Deployment" | "StatefulSet")
            | ("autoscaling", "HorizontalPodAutoscaler")
            | ("autoscaling.k8s.io", "Hvpa")
    )
}

/// Makes one object highly available; a kind that it does not handle is left alone.
///
/// # Errors
/// 403 when an annotation is no number, a version is not known, or a field has another type than the API's.
pub fn mutate(
    config: &HighAvailabilityConfig,
    facts: Facts<'_>,
    kind: &GroupVersionKind,
    object: &mut Value,
) -> Result<(), Rejection> {
    let Some(kind) = classify(kind)? else { return Ok(()) };
    change(config, facts, kind, object).map_err(|rejection| Rejection::forbidden(rejection.message))
}

fn change(
    config: &HighAvailabilityConfig,
    facts: Facts<'_>,
    kind: Kind,
    object: &mut Value,
) -> Result<(), Rejection> {
    let tolerance = facts.namespace.failure_tolerance;
    match kind {
        Kind::HorizontalPodAutoscaler => replicas::mutate_autoscaler(tolerance, &["spec"], object),
        Kind::Hvpa => replicas::mutate_autoscaler(tolerance, &["spec", "hpa", "template", "spec"], object),
        Kind::Workload => {
            replicas::mutate_workload(tolerance, facts.scaled_up_to, object)?;
            node_affinity::mutate(facts.namespace, object)?;
            topology_spread::mutate(facts, object)?;
            tolerations::mutate(config, object)
        }
    }
}

fn classify(kind: &GroupVersionKind) -> Result<Option<Kind>, Rejection> {
    Ok(match (kind.group.as_str(), kind.kind.as_str(), kind.version.as_str()) {
        ("apps", "Deployment" | "StatefulSet", _) => Some(Kind::Workload),
        ("autoscaling", "HorizontalPodAutoscaler", "v2" | "v2beta1") => Some(Kind::HorizontalPodAutoscaler),
        ("autoscaling", "HorizontalPodAutoscaler", version) => {
            let message = format!("autoscaling version {version:?} in request is not supported");
            return Err(Rejection::forbidden(message));
        }
        ("autoscaling.k8s.io", "Hvpa", _) => Some(Kind::Hvpa),
        _ => None,
    })
}
