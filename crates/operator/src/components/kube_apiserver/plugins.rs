//! The admission plugins of kube-apiserver.

use api::garden::shoot::api_server::AdmissionPlugin;
use serde_json::{Map, Value, json};

use crate::components::api_server::admission::{self, AdmissionSetup, EnabledPlugin, PluginConfig};
use crate::components::api_server::document;
use crate::components::error::RenderError;
use crate::components::values::ReferencedObjects;

/// Enabled by default, in order.
const DEFAULTS: [&str; 12] = [
    "Priority",
    "NamespaceLifecycle",
    "LimitRanger",
    "PodSecurity",
    "ServiceAccount",
    "NodeRestriction",
    "DefaultStorageClass",
    "DefaultTolerationSeconds",
    "ResourceQuota",
    "StorageObjectInUseProtection",
    "MutatingAdmissionWebhook",
    "ValidatingAdmissionWebhook",
];
/// Its API is not served, as there are no nodes.
const POD_SECURITY_POLICY: &str = "PodSecurityPolicy";
const POD_SECURITY: &str = "PodSecurity";
/// The namespace that PodSecurity never restricts.
const EXEMPT: &str = "kube-system";
/// Levels of PodSecurity, each with a version.
const MODES: [&str; 3] = ["audit", "enforce", "warn"];
/// Its configuration has the same fields in all versions.
const POD_SECURITY_GROUP: &str = "pod-security.admission.config.k8s.io/";
const POD_SECURITY_VERSIONS: [&str; 3] = ["v1alpha1", "v1beta1", "v1"];

/// Gardener's defaults with those of a Garden. OPC-093, OPC-094.
///
/// The original's defaults of 1.24 have PodSecurityPolicy between LimitRanger and PodSecurity, and leave it out in the end, except for
/// a Garden that its webhook did not default: that is mended here.
pub(super) fn setup(
    configured: &[AdmissionPlugin],
    referenced: &ReferencedObjects,
) -> Result<AdmissionSetup, RenderError> {
    let mut plugins = admission::enabled(&DEFAULTS, configured);
    plugins.retain(|plugin| plugin.name != POD_SECURITY_POLICY);
    let mut enabled = admission::complete(&plugins, referenced)?;
    if let Some(plugin) = enabled.iter_mut().find(|plugin| plugin.name == POD_SECURITY) {
        complete_pod_security(plugin)?;
    }
    Ok(AdmissionSetup { enabled, disabled: admission::disabled(configured) })
}

/// Fills in levels and versions as Go's decoder does, drops unknown fields, and exempts a namespace.
fn complete_pod_security(plugin: &mut EnabledPlugin) -> Result<(), RenderError> {
    let Some(PluginConfig::Given(config)) = &plugin.config else { return Ok(()) };
    let text = |field: &str| config[field].as_str().unwrap_or_default();
    let (api_version, kind) = (text("apiVersion"), text("kind"));
    let version = api_version.strip_prefix(POD_SECURITY_GROUP).unwrap_or_default();
    if kind != "PodSecurityConfiguration" || !POD_SECURITY_VERSIONS.contains(&version) {
        let reason = format!(
            "expected PodSecurityConfiguration of {POD_SECURITY_GROUP}v1alpha1, v1beta1 or v1 but got {kind:?} of {api_version:?}"
        );
        return Err(RenderError::PluginConfig { plugin: plugin.name.clone(), reason });
    }
    let file = document(&json!({
        "apiVersion": api_version,
        "kind": kind,
        "defaults": levels(&config["defaults"]),
        "exemptions": exemptions(&config["exemptions"]),
    }));
    plugin.config = Some(PluginConfig::File(file));
    Ok(())
}

fn levels(given: &Value) -> Map<String, Value> {
    let or = |field: &str, default: &str| {
        let given = given[field].as_str().filter(|text| !text.is_empty());
        (field.to_owned(), json!(given.unwrap_or(default)))
    };
    MODES.iter().flat_map(|mode| [or(mode, "privileged"), or(&format!("{mode}-version"), "latest")]).collect()
}

fn exemptions(given: &Value) -> Map<String, Value> {
    let listed = |field: &str| given[field].as_array().cloned().unwrap_or_default();
    let mut namespaces = listed("namespaces");
    if !namespaces.iter().any(|name| name == EXEMPT) {
        namespaces.push(EXEMPT.into());
    }
    let lists = [
        ("namespaces", namespaces),
        ("runtimeClasses", listed("runtimeClasses")),
        ("usernames", listed("usernames")),
    ];
    let filled = lists.into_iter().filter(|(_, names)| !names.is_empty());
    filled.map(|(field, names)| (field.to_owned(), Value::Array(names))).collect()
}

#[cfg(test)]
mod tests;
