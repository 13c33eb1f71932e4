//! The webhooks of a registration: which of them contracts are about, and which are not ours to judge.

use std::collections::{BTreeMap, BTreeSet};

use conformance::route;
use webhook::registration::Registration;

use crate::components::COMPONENTS;

/// What an extension without a webhook for control planes learns, wherever it meets the tool.
pub(crate) const NOTHING_FOR_EXTENSIONS: &str = "the contracts about extensions are about the webhooks for control planes that \
    provider extensions register; an extension without one (most of those for operating systems and networks) has nothing that \
    they could verify, see docs/extension-authors.md";

/// Whether a registered webhook is the one that contracts call `name`: by its own name or by the end of its path.
pub(crate) fn is_named(webhook: &Registration, name: &str) -> bool {
    webhook.name.split('.').next() == Some(name) || route::path(webhook).rsplit('/').next() == Some(name)
}

/// The same by one of `paths`, too, or if contracts call it by its path.
pub(crate) fn is_about(webhook: &Registration, name: &str, paths: &[String]) -> bool {
    let path = route::path(webhook);
    is_named(webhook, name) || path == name || paths.contains(&path)
}

/// The webhooks of these components, with their default paths.
pub(crate) fn webhooks_of(components: &BTreeSet<&str>) -> BTreeMap<String, Vec<String>> {
    let mut webhooks: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let components = COMPONENTS.iter().filter(|component| components.contains(component.name));
    for (name, path) in components.flat_map(|component| (component.paths)()) {
        webhooks.entry(name.to_owned()).or_default().push(path);
    }
    webhooks
}

/// The registered webhooks that are none of `known` (name and paths), each described; without duplicates.
pub(crate) fn not_ours(registered: &[Registration], known: &BTreeMap<String, Vec<String>>) -> Vec<String> {
    let is_known = |webhook: &&Registration| known.iter().any(|(name, paths)| is_about(webhook, name, paths));
    let mut described: Vec<String> =
        registered.iter().filter(|webhook| !is_known(webhook)).map(describe).collect();
    let mut seen = BTreeSet::new();
    described.retain(|text| seen.insert(text.clone()));
    described
}

/// A webhook for a reader: `validation.calico.networking.extensions.gardener.cloud (shoots.core.gardener.cloud, /webhooks/validate)`.
fn describe(webhook: &Registration) -> String {
    let resources: BTreeSet<String> = webhook
        .rules
        .iter()
        .flat_map(|rule| {
            let groups = rule.api_groups.iter();
            groups.flat_map(|group| rule.resources.iter().map(move |resource| in_group(resource, group)))
        })
        .collect();
    let resources: Vec<String> = resources.into_iter().chain([route::path(webhook)]).collect();
    format!("{} ({})", webhook.name, resources.join(", "))
}

fn in_group(resource: &str, group: &str) -> String {
    if group.is_empty() { resource.to_owned() } else { format!("{resource}.{group}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_an_extension_registers_beside_control_planes_is_listed_once() {
        let secrets = json!([{"apiGroups": [""], "resources": ["secrets"]}]);
        let shoots = json!([
            {"apiGroups": ["core.gardener.cloud"], "apiVersions": ["v1alpha1", "v1beta1"], "resources": ["shoots"]},
        ]);
        let registered: Vec<Registration> = serde_json::from_value(json!([
            {"name": "controlplane.gcp.extensions.gardener.cloud", "clientConfig": {"url": "https://a/controlplane"}},
            {"name": "x.gcp.extensions.gardener.cloud", "clientConfig": {"url": "https://a/hooks/controlplaneexposure"}},
            {"name": "backup.gcp.extensions.gardener.cloud", "clientConfig": {"url": "https://a/hooks/cpb"}},
            {"name": "cloudprovider.gcp.extensions.gardener.cloud", "rules": secrets, "clientConfig": {"url": "https://a/cloudprovider"}},
            {"name": "cloudprovider.gcp.extensions.gardener.cloud", "rules": secrets, "clientConfig": {"url": "https://a/cloudprovider"}},
            {"name": "validation.calico.networking.extensions.gardener.cloud", "rules": shoots, "clientConfig": {"service": {"path": "/webhooks/validate"}}},
        ]))
        .unwrap();
        let mut known = webhooks_of(&BTreeSet::from(["controlplane"]));
        let names: Vec<&str> = known.keys().map(String::as_str).collect();
        assert_eq!(names, ["controlplane", "controlplanebackup", "controlplaneexposure"]);
        known.entry("controlplanebackup".to_owned()).or_default().push("/hooks/cpb".to_owned());
        assert_eq!(
            not_ours(&registered, &known),
            [
                "cloudprovider.gcp.extensions.gardener.cloud (secrets, /cloudprovider)",
                "validation.calico.networking.extensions.gardener.cloud (shoots.core.gardener.cloud, /webhooks/validate)",
            ]
        );
    }
}
