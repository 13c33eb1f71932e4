//! Admission plugins of the API server of a Shoot.

use api::garden::shoot::api_server::AdmissionPlugin;
use formats::version::Version;
use serde_json::Value;
use webhook::field::{Error, Path, quote};

use super::field_errors::FieldErrors;
use super::kubernetes_version::{is_below, is_from};

const REQUIRED: [&str; 7] = [
    "MutatingAdmissionWebhook",
    "NamespaceLifecycle",
    "NodeRestriction",
    "PodSecurity",
    "Priority",
    "StorageObjectInUseProtection",
    "ValidatingAdmissionWebhook",
];
const FORBIDDEN: &str = "SecurityContextDeny";
/// The plugin that 1.25 removed.
pub(super) const POD_SECURITY_POLICY: &str = "PodSecurityPolicy";
const OTHERS: [&str; 29] = [
    "AlwaysAdmit",
    "AlwaysDeny",
    "AlwaysPullImages",
    "CertificateApproval",
    "CertificateSigning",
    "CertificateSubjectRestriction",
    "ClusterTrustBundleAttest",
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
    POD_SECURITY_POLICY,
    "PodNodeSelector",
    "PodTolerationRestriction",
    "ResourceQuota",
    "RuntimeClass",
    "ServiceAccount",
    "TaintNodesByCondition",
    "ValidatingAdmissionPolicy",
];
/// Plugins that call others, and may be given how.
const CALLING: [&str; 3] = ["ImagePolicyWebhook", "MutatingAdmissionWebhook", "ValidatingAdmissionWebhook"];
const POD_SECURITY: &str = "pod-security.admission.config.k8s.io";

/// The errors of the plugins; the first one without a name ends the check: GDN-SPG-001 to -006.
pub(super) fn validate(plugins: &[AdmissionPlugin], version: &str, at: &Path) -> FieldErrors {
    if let Err(error) = Version::parse(version) {
        let at = Path::new("spec").child("kubernetes").child("version");
        return vec![Error::invalid(&at, version, &error.to_string())];
    }
    let mut errors = FieldErrors::new();
    for (index, plugin) in plugins.iter().enumerate() {
        let at = at.index(index);
        if plugin.name.is_empty() {
            errors.push(Error::required(&at.child("name"), "must provide a name"));
            return errors;
        }
        errors.extend(validate_one(plugin, version, &at));
    }
    errors
}

fn validate_one(plugin: &AdmissionPlugin, version: &str, at: &Path) -> FieldErrors {
    let (name, at_name) = (plugin.name.as_str(), at.child("name"));
    let (quoted, is_off) = (quote(name), plugin.disabled == Some(true));
    if name != FORBIDDEN && !REQUIRED.contains(&name) && !OTHERS.contains(&name) {
        return vec![Error::invalid(&at_name, name, &format!("unknown admission plugin {quoted}"))];
    }
    let is_there = match name {
        "ClusterTrustBundleAttest" => is_from(version, 27),
        "ValidatingAdmissionPolicy" => is_from(version, 26),
        // Whoever leaves it has it off.
        POD_SECURITY_POLICY if is_off => true,
        POD_SECURITY_POLICY => is_below(version, 25),
        _ => true,
    };
    if !is_there {
        let detail = format!("admission plugin {quoted} is not supported in Kubernetes version {version}");
        return vec![Error::forbidden(&at_name, &detail)];
    }
    let mut errors = FieldErrors::new();
    if name == FORBIDDEN {
        let detail = "forbidden admission plugin was specified - do not use plugins from the following list: \
                      [SecurityContextDeny]";
        errors.push(Error::forbidden(&at_name, detail));
    }
    if is_off && REQUIRED.contains(&name) {
        errors.push(Error::forbidden(at, &format!("admission plugin {quoted} cannot be disabled")));
    }
    let is_gone = name == POD_SECURITY_POLICY && is_from(version, 25);
    if plugin.kubeconfig_secret_name.is_some() && !CALLING.contains(&name) && !is_gone {
        let detail = format!("admission plugin {quoted} does not allow specifying external kubeconfig");
        errors.push(Error::forbidden(&at.child("kubeconfigSecretName"), &detail));
    }
    if let Some(config) = plugin.config.as_ref().filter(|_| name == "PodSecurity") {
        errors.extend(pod_security(config, version, &at.child("config")));
    }
    errors
}

/// The configuration of PodSecurity is of a version that Kubernetes has.
fn pod_security(config: &Value, version: &str, at: &Path) -> Option<Error> {
    let text = |name: &str| config.get(name).and_then(Value::as_str).unwrap_or_default();
    let (kind, of) = (text("kind"), text("apiVersion"));
    let raw = config.to_string();
    let missing = match (kind, of) {
        ("", _) => Some("Object 'Kind' is missing in"),
        (_, "") => Some("Object 'apiVersion' is missing in"),
        _ => None,
    };
    if let Some(missing) = missing {
        let detail = format!("cannot decode the given config: {missing} '{raw}'");
        return Some(Error::invalid(at, raw.as_str(), &detail));
    }
    let known = of.strip_prefix(POD_SECURITY).and_then(|rest| rest.strip_prefix('/'));
    let known =
        known.filter(|of| kind == "PodSecurityConfiguration" && ["v1alpha1", "v1beta1", "v1"].contains(of));
    let Some(known) = known else {
        let each =
            ["v1alpha1", "v1beta1", "v1"].map(|of| format!("{POD_SECURITY}/{of}.PodSecurityConfiguration"));
        return Some(Error::invalid(at, raw.as_str(), &format!("expected {}", each.join(" or "))));
    };
    let is_too_new = known == "v1" && is_below(version, 25);
    let detail = format!(
        "PodSecurityConfiguration apiVersion for Kubernetes version {} should be \"{POD_SECURITY}/v1beta1 or \
         {POD_SECURITY}/v1alpha1\" but got \"{of}\"",
        quote(version)
    );
    is_too_new.then(|| Error::invalid(at, raw.as_str(), &detail))
}
