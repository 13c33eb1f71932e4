//! Addons of a Shoot.

use api::garden::shoot::ShootSpec;
use webhook::field::{Error, Path};

use super::field_errors::{FieldErrors, supported};

/// Addons belong to evaluation clusters with pools: GDN-SAD-001 to -003.
pub(super) fn validate(spec: &ShootSpec, at: &Path) -> FieldErrors {
    let Some(addons) = &spec.addons else { return FieldErrors::new() };
    let at = at.child("addons");
    if spec.provider.workers.is_empty() {
        let detail = "addons cannot be enabled for Workerless Shoot clusters";
        return vec![Error::forbidden(&at, detail)];
    }
    let ingress = addons.nginx_ingress.as_ref().filter(|ingress| ingress.enabled);
    let dashboard = addons.kubernetes_dashboard.as_ref().filter(|dashboard| dashboard.enabled);
    let has_another_purpose = spec.purpose.as_ref().is_some_and(|purpose| purpose != "evaluation");
    let mut errors = FieldErrors::new();
    if has_another_purpose && (ingress.is_some() || dashboard.is_some()) {
        let detail = "addons can only be enabled on shoots with .spec.purpose=evaluation";
        errors.push(Error::forbidden(&at, detail));
    }
    if let Some(policy) = ingress.and_then(|ingress| ingress.external_traffic_policy.as_ref()) {
        let at = at.child("nginxIngress").child("externalTrafficPolicy");
        errors.extend(supported(&at, policy, &["Cluster", "Local"]));
    }
    if let Some(mode) = dashboard.and_then(|dashboard| dashboard.authentication_mode.as_ref()) {
        let at = at.child("kubernetesDashboard").child("authenticationMode");
        errors.extend(supported(&at, mode, &["token"]));
    }
    errors
}
