//! The admission plugins of kube-apiserver.

use api::garden::shoot::api_server::AdmissionPlugin;
use serde_json::{Map, Value, json};

use crate::components::error::RenderError;

/// Enabled by default, in order.
pub(super) const DEFAULTS: [&str; 12] = [
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

/// Those of a Garden as they count. OPC-093, OPC-094.
///
/// PodSecurityPolicy is never enabled. The original's defaults of 1.24 have it, and leave it out in the end, except for a Garden that its
/// webhook did not default: that is mended here.
pub(super) fn configured(plugins: &[AdmissionPlugin]) -> Result<Vec<AdmissionPlugin>, RenderError> {
    let counting =
        plugins.iter().filter(|plugin| plugin.name != POD_SECURITY_POLICY || plugin.disabled == Some(true));
    let each = counting.map(|plugin| match &plugin.config {
        Some(config) if plugin.name == POD_SECURITY && plugin.disabled != Some(true) => {
            Ok(AdmissionPlugin { config: Some(pod_security(config)?), ..plugin.clone() })
        }
        _ => Ok(plugin.clone()),
    });
    each.collect()
}

/// Fills in levels and versions as Go's decoder does, drops unknown fields, and exempts a namespace.
fn pod_security(config: &Value) -> Result<Value, RenderError> {
    let text = |field: &str| config[field].as_str().unwrap_or_default();
    let (api_version, kind) = (text("apiVersion"), text("kind"));
    let version = api_version.strip_prefix(POD_SECURITY_GROUP).unwrap_or_default();
    if kind != "PodSecurityConfiguration" || !POD_SECURITY_VERSIONS.contains(&version) {
        let wanted = format!("PodSecurityConfiguration of {POD_SECURITY_GROUP}v1alpha1, v1beta1 or v1");
        let reason = format!("expected {wanted} but got {kind:?} of {api_version:?}");
        return Err(RenderError::PluginConfig { plugin: POD_SECURITY.to_owned(), reason });
    }
    Ok(json!({
        "apiVersion": api_version,
        "kind": kind,
        "defaults": levels(&config["defaults"]),
        "exemptions": exemptions(&config["exemptions"]),
    }))
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
