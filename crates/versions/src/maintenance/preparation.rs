//! Changes fields of a shoot that certain versions of Kubernetes do not allow.

use api::garden::shoot::ShootSpec;
use api::garden::shoot::api_server::AdmissionPlugin;
use formats::version::Version;

const POD_SECURITY_POLICY: &str = "PodSecurityPolicy";

/// Prepares the update to 1.25: the setting for privileged containers does not exist there, and the admission plugin
/// PodSecurityPolicy must be disabled before. Returns whether it was disabled now, so that the update must wait.
pub(super) fn for_1_25(
    shoot: &mut ShootSpec,
    old: &Version,
    new: &Version,
    messages: &mut Vec<String>,
) -> bool {
    if !crosses(old, new, 25) {
        return false;
    }
    if shoot.kubernetes.allow_privileged_containers.take().is_some() {
        messages.push(format!(
            "allowPrivilegedContainers must be nil for updating Kubernetes to {:?}",
            new.to_string()
        ));
    }
    if !disable_pod_security_policy(shoot) {
        return false;
    }
    messages.push(format!(
        "PodSecurityPolicy Admission Controller must be disabled for updating Kubernetes to {:?}",
        new.to_string()
    ));
    messages.push(format!(
        "Postponing Kubernetes update to {:?} to the next maintenance window because disabling PodSecurityPolicy Admission \
         Controller and Kubernetes update cannot be done at the same time",
        new.to_string()
    ));
    true
}

/// Prepares the update to 1.27: no kubeconfig with a static token, and in pools with system components at least as
/// many machines as zones.
pub(super) fn for_1_27(shoot: &mut ShootSpec, old: &Version, new: &Version, messages: &mut Vec<String>) {
    if !crosses(old, new, 27) {
        return;
    }
    if shoot.kubernetes.enable_static_token_kubeconfig == Some(true) {
        shoot.kubernetes.enable_static_token_kubeconfig = Some(false);
        messages.push(
            "EnableStaticTokenKubeconfig is set to false. Reason: The static token kubeconfig can no longer be enabled for \
             Shoot clusters using Kubernetes version 1.27 and higher"
                .to_owned(),
        );
    }
    for pool in &mut shoot.provider.workers {
        let zones = i32::try_from(pool.zones.len()).unwrap_or(i32::MAX);
        let is_for_all = pool.system_components.as_ref().is_none_or(|own| own.allow);
        if is_for_all && pool.maximum < zones {
            messages.push(format!(
                "Maximum of worker-pool {:?} upgraded from {} to {zones}. Reason: Maximum number of workers of a worker \
                 group must be greater or equal to its number of zones for updating Kubernetes to {:?}",
                pool.name,
                pool.maximum,
                new.to_string()
            ));
            pool.maximum = zones;
        }
    }
}

/// Whether an update crosses the beginning of a minor, including its prereleases.
fn crosses(old: &Version, new: &Version, minor: u64) -> bool {
    old.is_below(1, minor) && !new.is_below(1, minor)
}

/// Disables the plugin; returns whether it was enabled.
fn disable_pod_security_policy(shoot: &mut ShootSpec) -> bool {
    let plugins = &mut shoot.kubernetes.kube_api_server.get_or_insert_default().admission_plugins;
    if let Some(plugin) = plugins.iter_mut().find(|plugin| plugin.name == POD_SECURITY_POLICY) {
        return plugin.disabled.replace(true) != Some(true);
    }
    plugins.push(AdmissionPlugin {
        name: POD_SECURITY_POLICY.to_owned(),
        disabled: Some(true),
        ..AdmissionPlugin::default()
    });
    true
}
