//! Settings of the controller manager of a Shoot.

use api::garden::Duration;
use api::garden::shoot::ShootSpec;
use api::garden::shoot::autoscaling::HorizontalPodAutoscalerConfig;
use formats::duration::GoDuration;
use webhook::field::{Error, Path, Shown};

use super::bounds::{duration, number, refuse};
use super::field_errors::FieldErrors;
use super::shoot_provider::workerless;
use super::{go_value::GoValue, shoot_feature_gates};

const SECOND: i64 = 1_000_000_000;

/// The errors of the settings: GDN-SKC-001 to -004.
pub(super) fn validate(spec: &ShootSpec, version: &str, at: &Path) -> FieldErrors {
    let Some(manager) = &spec.kubernetes.kube_controller_manager else { return FieldErrors::new() };
    let at = at.child("kubeControllerManager");
    let (eviction, grace) = (&manager.pod_eviction_timeout, &manager.node_monitor_grace_period);
    let mut errors = FieldErrors::new();
    if spec.provider.workers.is_empty() {
        let present = [
            ("nodeCIDRMaskSize", manager.node_cidr_mask_size.is_some()),
            ("horizontalPodAutoscaler", manager.horizontal_pod_autoscaler.is_some()),
            ("podEvictionTimeout", eviction.is_some()),
            ("nodeMonitorGracePeriod", grace.is_some()),
        ];
        errors.extend(workerless(&at, present));
    } else {
        let families = spec.networking.as_ref().map(|networking| networking.ip_families.as_slice());
        let is_v4 = families.is_some_and(|families| families.is_empty() || *families == ["IPv4"]);
        let mask = manager.node_cidr_mask_size.filter(|mask| is_v4 && !(16..=28).contains(mask));
        if let Some(mask) = mask {
            let detail = "nodeCIDRMaskSize must be between 16 and 28";
            errors.push(Error::invalid(&at.child("nodeCIDRMaskSize"), Shown::verbatim(mask), detail));
        }
        errors.extend(above_zero("podEvictionTimeout", eviction.as_ref(), &at));
        errors.extend(above_zero("nodeMonitorGracePeriod", grace.as_ref(), &at));
        let autoscaler = manager.horizontal_pod_autoscaler.iter();
        errors
            .extend(autoscaler.flat_map(|config| autoscaling(config, &at.child("horizontalPodAutoscaler"))));
    }
    errors.extend(shoot_feature_gates::validate(&manager.feature_gates, version, &at.child("featureGates")));
    errors
}

/// Nodes keep the size of their networks: GDN-SKC-005.
pub(super) fn validate_update(new: &ShootSpec, old: &ShootSpec, at: &Path) -> Option<Error> {
    let mask = |spec: &ShootSpec| {
        let mask =
            spec.kubernetes.kube_controller_manager.as_ref().and_then(|manager| manager.node_cidr_mask_size);
        GoValue::pointer("int32", mask.map(|mask| GoValue::Integer(mask.into())))
    };
    let at = at.child("kubernetes").child("kubeControllerManager").child("nodeCIDRMaskSize");
    super::field_errors::immutable(&at, &mask(new), &mask(old))
}

fn above_zero(name: &str, period: Option<&Duration>, at: &Path) -> Option<Error> {
    let period = duration(period).filter(|period| period.nanos() <= 0)?;
    let detail = format!("{name} must be larger than 0");
    Some(Error::invalid(&at.child(name), Shown::verbatim(period), &detail))
}

fn autoscaling(config: &HorizontalPodAutoscalerConfig, at: &Path) -> FieldErrors {
    let is_short = |period: GoDuration| period.nanos() < SECOND;
    let mut errors = FieldErrors::new();
    let detail = "syncPeriod must not be less than a second";
    errors.extend(refuse(&at.child("syncPeriod"), config.sync_period.as_ref(), is_short, detail));
    if let Some(tolerance) = number(config.tolerance.as_ref()).filter(|tolerance| *tolerance <= 0.0) {
        let detail = "tolerance of must be greater than 0";
        errors.push(Error::invalid(&at.child("tolerance"), Shown::verbatim(tolerance), detail));
    }
    let detail = "downScale stabilization must not be less than a second";
    let period = config.downscale_stabilization.as_ref();
    errors.extend(refuse(&at.child("downscaleStabilization"), period, is_short, detail));
    let detail = "initial readiness delay must be greater than 0";
    let (period, is_none) =
        (config.initial_readiness_delay.as_ref(), |period: GoDuration| period.nanos() <= 0);
    errors.extend(refuse(&at.child("initialReadinessDelay"), period, is_none, detail));
    let detail = "cpu initialization period must not be less than a second";
    let period = config.cpu_initialization_period.as_ref();
    errors.extend(refuse(&at.child("cpuInitializationPeriod"), period, is_short, detail));
    errors
}
