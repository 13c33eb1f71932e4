//! Settings of the scheduler and of kube-proxy of a Shoot.

use api::garden::shoot::kubernetes::Kubernetes;
use webhook::field::{Error, Path};

use super::field_errors::{FieldErrors, supported};
use super::shoot_feature_gates;

/// The profile of the scheduler: GDN-SKS-001, GDN-SKS-003.
pub(super) fn validate(kubernetes: &Kubernetes, version: &str, at: &Path) -> FieldErrors {
    let Some(scheduler) = &kubernetes.kube_scheduler else { return FieldErrors::new() };
    let at = at.child("kubeScheduler");
    let known = ["balanced", "bin-packing"];
    let profile = scheduler.profile.as_ref();
    let mut errors: FieldErrors =
        profile.and_then(|profile| supported(&at.child("profile"), profile, &known)).into_iter().collect();
    errors.extend(shoot_feature_gates::validate(
        &scheduler.feature_gates,
        version,
        &at.child("featureGates"),
    ));
    errors
}

/// The mode of kube-proxy: GDN-SKS-002, GDN-SKS-003. In Shoots, unlike templates, it is always there.
pub(super) fn validate_proxy(kubernetes: &Kubernetes, version: &str, at: &Path) -> FieldErrors {
    let Some(proxy) = &kubernetes.kube_proxy else { return FieldErrors::new() };
    let at = at.child("kubeProxy");
    let at_mode = at.child("mode");
    let mode = match &proxy.mode {
        None => Some(Error::required(&at_mode, "must be set when .spec.kubernetes.kubeProxy is set")),
        Some(mode) => supported(&at_mode, mode, &["IPTables", "IPVS"]),
    };
    let mut errors: FieldErrors = mode.into_iter().collect();
    errors.extend(shoot_feature_gates::validate(&proxy.feature_gates, version, &at.child("featureGates")));
    errors
}
