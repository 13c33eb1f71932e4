//! Settings of the autoscalers of a Shoot's nodes and pods.

use std::collections::BTreeSet;

use api::garden::shoot::autoscaling::{ClusterAutoscaler, VerticalPodAutoscaler};
use webhook::field::{Error, Path, Shown};

use super::bounds::{not_negative, number};
use super::field_errors::FieldErrors;
use super::shoot_pool_taints;

const EXPANDERS: [&str; 4] = ["least-waste", "most-pods", "priority", "random"];
const NEGATIVE: &str = "can not be negative";

/// The errors of the cluster autoscaler: GDN-SAS-001 to -003.
pub(super) fn validate(autoscaler: &ClusterAutoscaler, at: &Path) -> FieldErrors {
    let mut errors = FieldErrors::new();
    let at_threshold = at.child("scaleDownUtilizationThreshold");
    if let Some(threshold) = number(autoscaler.scale_down_utilization_threshold.as_ref()) {
        let wrong = [(threshold < 0.0, NEGATIVE), (threshold > 1.0, "can not be greater than 1.0")];
        for (_, detail) in wrong.into_iter().filter(|(is_wrong, _)| *is_wrong) {
            errors.push(Error::invalid(&at_threshold, Shown::verbatim(threshold), detail));
        }
    }
    let time = autoscaler.max_node_provision_time.as_ref();
    errors.extend(not_negative(&at.child("maxNodeProvisionTime"), time));
    let seconds = autoscaler.max_graceful_termination_seconds;
    errors.extend(count(&at.child("maxGracefulTerminationSeconds"), seconds));
    // The original reports it once for each of them.
    let expander = autoscaler.expander.as_deref();
    let unknown = expander.iter().flat_map(|all| all.split(',')).filter(|name| !EXPANDERS.contains(name));
    let refuse = |_| Error::not_supported(&at.child("expander"), expander.unwrap_or_default(), &EXPANDERS);
    errors.extend(unknown.map(refuse));
    let mut seen = BTreeSet::new();
    for (index, taint) in autoscaler.ignore_taints.iter().enumerate() {
        let at = at.child("ignoreTaints").index(index);
        errors.extend(shoot_pool_taints::key(taint, &at));
        if !seen.insert(taint) {
            errors.push(Error::duplicate(&at, taint));
        }
    }
    let delay = autoscaler.new_pod_scale_up_delay.as_ref();
    errors.extend(not_negative(&at.child("newPodScaleUpDelay"), delay));
    errors.extend(count(&at.child("maxEmptyBulkDelete"), autoscaler.max_empty_bulk_delete));
    errors
}

/// The errors of the vertical pod autoscaler: GDN-SAS-004.
pub(super) fn validate_vertical(autoscaler: &VerticalPodAutoscaler, at: &Path) -> FieldErrors {
    let periods = [
        ("evictAfterOOMThreshold", &autoscaler.evict_after_oom_threshold),
        ("updaterInterval", &autoscaler.updater_interval),
        ("recommenderInterval", &autoscaler.recommender_interval),
    ];
    periods.into_iter().filter_map(|(name, period)| not_negative(&at.child(name), period.as_ref())).collect()
}

fn count(at: &Path, count: Option<i32>) -> Option<Error> {
    let count = count.filter(|count| *count < 0)?;
    Some(Error::invalid(at, Shown::verbatim(count), NEGATIVE))
}
