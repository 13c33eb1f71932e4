//! Admission plugins of kube-apiserver.

use api::garden::shoot::api_server::AdmissionPlugin;
use formats::version::Version;
use webhook::field::{Error, Path, quote};

use super::kubernetes::{Release, ReleaseRange};
use super::{FieldErrors, pod_security};

/// Plugins that cannot be disabled.
const REQUIRED: [&str; 7] = [
    "MutatingAdmissionWebhook",
    "NamespaceLifecycle",
    "NodeRestriction",
    "PodSecurity",
    "Priority",
    "StorageObjectInUseProtection",
    "ValidatingAdmissionWebhook",
];
/// A plugin that is refused.
const FORBIDDEN: &str = "SecurityContextDeny";
/// A removed plugin that may still be listed if it is disabled.
const MIGRATED: &str = "PodSecurityPolicy";
/// Plugins that there are in some releases only.
const RANGES: [(&str, ReleaseRange); 3] = [
    ("ClusterTrustBundleAttest", ReleaseRange { added: Some(27), removed: None }),
    ("ValidatingAdmissionPolicy", ReleaseRange { added: Some(26), removed: None }),
    (MIGRATED, ReleaseRange { added: None, removed: Some(25) }),
];
/// All others.
const OTHERS: [&str; 26] = [
    "AlwaysAdmit",
    "AlwaysDeny",
    "AlwaysPullImages",
    "CertificateApproval",
    "CertificateSigning",
    "CertificateSubjectRestriction",
    "DefaultIngressClass",
    "DefaultStorageClass",
    "DefaultTolerationSeconds",
    "DenyServiceExternalIPs",
    "EventRateLimit",
    "ExtendedResourceToleration",
    "ImagePolicyWebhook",
    "LimitPodHardAntiAffinityTopology",
    "LimitRanger",
    "NamespaceAutoProvision",
    "NamespaceExists",
    "OwnerReferencesPermissionEnforcement",
    "PersistentVolumeClaimResize",
    "PersistentVolumeLabel",
    "PodNodeSelector",
    "PodTolerationRestriction",
    "ResourceQuota",
    "RuntimeClass",
    "ServiceAccount",
    "TaintNodesByCondition",
];
/// Plugins that may use a kubeconfig.
const WITH_KUBECONFIG: [&str; 3] =
    ["ValidatingAdmissionWebhook", "MutatingAdmissionWebhook", "ImagePolicyWebhook"];

/// Plugins are known, allowed and of the release. OPR-PLG-001 to -006.
pub(super) fn errors(plugins: &[AdmissionPlugin], release: &Release<'_>, at: &Path) -> FieldErrors {
    let version = match release.whole() {
        Ok(version) => version,
        Err(error) => {
            // The original names the field of a Shoot.
            let field = Path::new("spec").child("kubernetes").child("version");
            return vec![Error::invalid(&field, release.text, &error.to_string())];
        }
    };
    let mut errors = Vec::new();
    for (index, plugin) in plugins.iter().enumerate() {
        let at = at.index(index);
        if plugin.name.is_empty() {
            errors.push(Error::required(&at.child("name"), "must provide a name"));
            return errors;
        }
        check(plugin, release, &version, &at, &mut errors);
    }
    errors
}

fn check(
    plugin: &AdmissionPlugin,
    release: &Release<'_>,
    version: &Version,
    at: &Path,
    errors: &mut FieldErrors,
) {
    let (name, field) = (plugin.name.as_str(), at.child("name"));
    let Some(range) = range(name) else {
        errors.push(Error::invalid(&field, name, &format!("unknown admission plugin {}", quote(name))));
        return;
    };
    let is_disabled = plugin.disabled == Some(true);
    match release.is_in(range) {
        Err(error) => errors.push(Error::invalid(&field, name, &error.to_string())),
        Ok(false) if name == MIGRATED && is_disabled && !version.is_below(1, 25) => {}
        Ok(false) => {
            let text = format!(
                "admission plugin {} is not supported in Kubernetes version {}",
                quote(name),
                release.text
            );
            errors.push(Error::forbidden(&field, &text));
        }
        Ok(true) => check_supported(plugin, is_disabled, version, at, errors),
    }
}

fn check_supported(
    plugin: &AdmissionPlugin,
    is_disabled: bool,
    version: &Version,
    at: &Path,
    errors: &mut FieldErrors,
) {
    let name = plugin.name.as_str();
    if name == FORBIDDEN {
        let text = format!(
            "forbidden admission plugin was specified - do not use plugins from the following list: [{FORBIDDEN}]"
        );
        errors.push(Error::forbidden(&at.child("name"), &text));
    }
    if is_disabled && REQUIRED.contains(&name) {
        errors.push(Error::forbidden(at, &format!("admission plugin {} cannot be disabled", quote(name))));
    }
    if plugin.kubeconfig_secret_name.is_some() && !WITH_KUBECONFIG.contains(&name) {
        let text = format!("admission plugin {} does not allow specifying external kubeconfig", quote(name));
        errors.push(Error::forbidden(&at.child("kubeconfigSecretName"), &text));
    }
    if let Some(config) = plugin.config.as_ref().filter(|_| name == "PodSecurity")
        && let Err(text) = pod_security::check(config, version)
    {
        errors.push(Error::invalid(&at.child("config"), &config.to_string(), &text));
    }
}

fn range(name: &str) -> Option<ReleaseRange> {
    if let Some((_, range)) = RANGES.iter().find(|(known, _)| *known == name) {
        return Some(*range);
    }
    let is_known = REQUIRED.contains(&name) || OTHERS.contains(&name) || name == FORBIDDEN;
    is_known.then(ReleaseRange::default)
}
