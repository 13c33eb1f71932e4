//! Kubernetes settings of a Shoot that depend on its version.

use api::garden::shoot::ShootSpec;
use api::garden::shoot::kubernetes::Kubernetes;
use api::garden::{Duration, Shoot};
use formats::duration::GoDuration;
use formats::version::Version;
use serde_json::Value;
use webhook::field::{Error, Path, Shown};
use webhook::object;
use webhook::rejection::Rejection;

use super::kubernetes_version;
use super::shoot_admission_plugins::POD_SECURITY_POLICY;

const KUBERNETES: [&str; 2] = ["spec", "kubernetes"];
/// Node monitor grace period below 1.27: the default of Kubernetes at that time.
const GRACE_PERIOD_BEFORE_1_27: &str = "2m0s";
const GRACE_PERIOD: &str = "40s";
const DOCUMENTATION: &str = "https://github.com/gardener/gardener/blob/master/docs/usage";

/// Sets defaults that depend on the version: GDN-SKU-001 to -004.
///
/// # Errors
/// When a field has the wrong type.
pub fn default(raw: &mut Value, shoot: &ShootSpec, old: Option<&ShootSpec>) -> Result<(), Rejection> {
    let mut filled = shoot.clone();
    fill_in(&mut filled, old);
    let (before, after) = (&shoot.kubernetes, &filled.kubernetes);
    let mut set = |path: &[&str], value: Option<Value>, is_changed: bool| match value {
        Some(value) if is_changed => object::set(raw, &[&KUBERNETES[..], path].concat(), value),
        _ => Ok(()),
    };
    let token = |of: &Kubernetes| of.enable_static_token_kubeconfig;
    set(&["enableStaticTokenKubeconfig"], token(after).map(Value::from), token(before) != token(after))?;
    let privileged = |of: &Kubernetes| of.allow_privileged_containers;
    let is_changed = privileged(before) != privileged(after);
    set(&["allowPrivilegedContainers"], privileged(after).map(Value::from), is_changed)?;
    let (was, period) = (configured_grace_period(before), configured_grace_period(after));
    set(&["kubeControllerManager", "nodeMonitorGracePeriod"], period.map(Value::from), was != period)?;
    Ok(())
}

/// Sets the same defaults of a spec.
pub(crate) fn fill_in(shoot: &mut ShootSpec, old: Option<&ShootSpec>) {
    let kubernetes = &shoot.kubernetes;
    let token = kubernetes.enable_static_token_kubeconfig.unwrap_or_else(|| is_below(kubernetes, 26));
    let is_unsaid = kubernetes.allow_privileged_containers.is_none();
    let is_privileged = is_unsaid && is_below(kubernetes, 25) && !has_policies_off(kubernetes);
    let period = grace_period(kubernetes, old.map(|old| &old.kubernetes));
    let (has_pools, kubernetes) = (!shoot.provider.workers.is_empty(), &mut shoot.kubernetes);
    kubernetes.enable_static_token_kubeconfig = Some(token);
    if !has_pools {
        return;
    }
    if is_privileged {
        kubernetes.allow_privileged_containers = Some(true);
    }
    if let Some(period) = period {
        let manager = kubernetes.kube_controller_manager.get_or_insert_default();
        manager.node_monitor_grace_period = Some(Duration(period.to_owned()));
    }
}

/// From 1.27 on there is no static token: GDN-SKU-005.
pub(super) fn validate_token(kubernetes: &Kubernetes, at: &Path) -> Option<Error> {
    let is_wrong = kubernetes.enable_static_token_kubeconfig == Some(true) && is_from(kubernetes, 27);
    let detail = format!(
        "for Kubernetes versions >= 1.27, enableStaticTokenKubeconfig field cannot not be set to true, please see \
         {DOCUMENTATION}/shoot_access.md#static-token-kubeconfig"
    );
    let at = at.child("enableStaticTokenKubeconfig");
    is_wrong.then(|| Error::invalid(&at, Shown::verbatim(true), &detail))
}

/// From 1.25 on a Shoot with pools has no setting for privileged containers: GDN-SKU-006.
pub(super) fn validate_privileged(kubernetes: &Kubernetes, at: &Path) -> Option<Error> {
    let is_wrong = kubernetes.allow_privileged_containers.is_some() && is_from(kubernetes, 25);
    let detail = format!(
        "for Kubernetes versions >= 1.25, allowPrivilegedContainers field should not be set, please see \
         {DOCUMENTATION}/pod-security.md#speckubernetesallowprivilegedcontainers-in-the-shoot-spec"
    );
    is_wrong.then(|| Error::forbidden(&at.child("allowPrivilegedContainers"), &detail))
}

/// The update of a Shoot with pools to 1.25: GDN-SKU-007 to -009.
pub(super) fn validate_update_to_1_25(new: &Shoot, old: &Shoot) -> Option<Error> {
    let at = Path::new(KUBERNETES[0]).child(KUBERNETES[1]).child("version");
    for (shoot, which) in [(new, "new"), (old, "old")] {
        if Version::parse(text(&shoot.spec.kubernetes)).is_err() {
            let detail = format!("Invalid {which} kubernetes version");
            return Some(Error::invalid(&at, text(&shoot.spec.kubernetes), &detail));
        }
    }
    if new.spec.provider.workers.is_empty() {
        return None;
    }
    reject_update_to_1_25(new, old).map(|detail| Error::forbidden(&at, &detail))
}

/// The node monitor grace period to write, if any.
fn grace_period(new: &Kubernetes, old: Option<&Kubernetes>) -> Option<&'static str> {
    let Some(configured) = configured_grace_period(new) else {
        return Some(if is_below(new, 27) { GRACE_PERIOD_BEFORE_1_27 } else { GRACE_PERIOD });
    };
    // As in the original, a Shoot with the old default gets the new one, even if the update sets another value.
    let old = old.filter(|old| is_below(old, 27) && is_from(new, 27))?;
    let had = GoDuration::parse(configured_grace_period(old)?).ok()?;
    let had_default = had.to_string() == GRACE_PERIOD_BEFORE_1_27;
    (had_default && configured != GRACE_PERIOD).then_some(GRACE_PERIOD)
}

fn configured_grace_period(kubernetes: &Kubernetes) -> Option<&str> {
    let period = kubernetes.kube_controller_manager.as_ref()?.node_monitor_grace_period.as_ref();
    period.map(|period| period.0.as_str())
}

/// Why an update to 1.25 is refused: it removes pod security policies, so the Shoot must have been reconciled without
/// them.
fn reject_update_to_1_25(new: &Shoot, old: &Shoot) -> Option<String> {
    let (kubernetes, before) = (&new.spec.kubernetes, &old.spec.kubernetes);
    if !is_below(before, 25) || !is_from(kubernetes, 25) {
        return None;
    }
    if !has_policies_off(kubernetes) || !has_policies_off(before) {
        return Some(format!(
            "admission plugin {POD_SECURITY_POLICY:?} should be disabled for Kubernetes versions >=1.25, please check \
             {DOCUMENTATION}/pod-security.md#migrating-from-podsecuritypolicys-to-podsecurity-admission-controller"
        ));
    }
    let error = unreconciled(old)?;
    Some(format!("Shoot should have been reconciled successfully before upgrading to v1.25; error: {error}"))
}

/// Why a Shoot does not count as reconciled.
fn unreconciled(shoot: &Shoot) -> Option<String> {
    if shoot.metadata.generation.unwrap_or_default() != shoot.status.observed_generation.unwrap_or_default() {
        return Some("shoot generation did not equal observed generation".to_owned());
    }
    let Some(last) = &shoot.status.last_operation else {
        return Some("no last operation present yet".to_owned());
    };
    match (last.type_.as_str(), last.state.as_str()) {
        ("Create" | "Reconcile", "Succeeded") => None,
        (kind @ ("Create" | "Reconcile"), _) => {
            Some(format!("last operation type was {kind} but state was not succeeded"))
        }
        (kind, _) => Some(format!("last operation was {kind}, not Reconcile")),
    }
}

fn has_policies_off(kubernetes: &Kubernetes) -> bool {
    let plugins = kubernetes.kube_api_server.iter().flat_map(|server| &server.admission_plugins);
    plugins.into_iter().any(|plugin| plugin.name == POD_SECURITY_POLICY && plugin.disabled == Some(true))
}

fn is_below(kubernetes: &Kubernetes, minor: u64) -> bool {
    kubernetes_version::is_below(text(kubernetes), minor)
}

fn is_from(kubernetes: &Kubernetes, minor: u64) -> bool {
    kubernetes_version::is_from(text(kubernetes), minor)
}

fn text(kubernetes: &Kubernetes) -> &str {
    kubernetes.version.as_deref().unwrap_or_default()
}
