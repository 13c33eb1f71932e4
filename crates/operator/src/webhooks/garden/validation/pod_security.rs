//! The configuration of the admission plugin PodSecurity.

use std::collections::BTreeMap;

use formats::version::Version;
use serde::Deserialize;
use serde_json::Value;
use webhook::field::quote;

const POD_SECURITY: &str = "pod-security.admission.config.k8s.io";

/// The configuration of PodSecurity, of which only the types are checked; other fields are ignored.
#[derive(Default, Deserialize)]
#[serde(default)]
struct PodSecurityConfiguration {
    defaults: Option<BTreeMap<String, String>>,
    exemptions: Option<Exemptions>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Exemptions {
    usernames: Option<Vec<String>>,
    namespaces: Option<Vec<String>>,
    runtime_classes: Option<Vec<String>>,
}

/// Whether it is a configuration of PodSecurity that this version of Kubernetes reads. OPR-PLG-005.
///
/// # Errors
/// What it is instead.
pub(super) fn check(config: &Value, release: &Version) -> Result<(), String> {
    let text = |field: &str| config.get(field).and_then(Value::as_str).unwrap_or_default();
    let (api_version, kind) = (text("apiVersion"), text("kind"));
    for (field, value) in [("Kind", kind), ("apiVersion", api_version)] {
        if value.is_empty() {
            return Err(format!("cannot decode the given config: Object '{field}' is missing in '{config}'"));
        }
    }
    let versions = ["v1alpha1", "v1beta1", "v1"];
    let version = api_version.split_once('/').filter(|(group, _)| *group == POD_SECURITY);
    let version = version.map(|(_, version)| version).filter(|version| versions.contains(version));
    let Some(version) = version.filter(|_| kind == "PodSecurityConfiguration") else {
        let wanted = versions.map(|version| format!("{POD_SECURITY}/{version}.PodSecurityConfiguration"));
        return Err(format!("expected {}", wanted.join(" or ")));
    };
    PodSecurityConfiguration::deserialize(config)
        .map_err(|error| format!("cannot decode the given config: {error}"))?;
    if release.is_below(1, 25) && version == "v1" {
        return Err(format!(
            "PodSecurityConfiguration apiVersion for Kubernetes version {} should be \"{POD_SECURITY}/v1beta1 or {POD_SECURITY}/v1alpha1\" but got \"{api_version}\"",
            quote(release.text())
        ));
    }
    Ok(())
}
