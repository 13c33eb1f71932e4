//! Which resource serves a kind: Kubernetes' and Gardener's own kinds, and those of the garden's CRDs.

use schema::{Crd, Kinds, Resource};
use webhook::strategy::ObjectReader;

const CRDS: &str = "customresourcedefinitions.apiextensions.k8s.io";
const UNKNOWN: &str = "the server could not find the requested resource";

/// The plural of a kind, and whether it is namespaced; none if the version has no such kind.
///
/// # Errors
/// The text of the original's client, if there is no such version.
pub(super) fn resource_of(
    objects: &dyn ObjectReader,
    api_version: &str,
    kind: &str,
) -> Result<Option<(String, bool)>, String> {
    if api_version.is_empty() {
        return Err("groupVersion shouldn't be empty".to_owned());
    }
    let (group, version) = match api_version.split_once('/') {
        // The core group has no path of this form.
        Some(("", _)) => return Err(UNKNOWN.to_owned()),
        Some(named) => named,
        None => ("", api_version),
    };
    let built_in = Kinds::gardener().group(group).map(|group| group.versions.as_slice()).unwrap_or_default();
    let built_in = built_in.iter().filter(|served| served.version == version);
    let defined = objects.list(CRDS).into_iter().filter(|crd| crd["spec"]["group"] == group);
    let defined = defined.filter_map(|crd| Crd::from_value(crd).ok());
    let defined = defined.flat_map(|crd| crd.resources()).filter(|resource| resource.version == version);
    let resources: Vec<Resource> =
        built_in.flat_map(|served| served.resources.clone()).chain(defined).collect();
    if resources.is_empty() {
        return Err(UNKNOWN.to_owned());
    }
    let found = resources.into_iter().find(|resource| resource.kind == kind);
    Ok(found.map(|resource| (resource.plural, resource.namespaced)))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;
    use crate::admission::testing::TestGarden;

    #[rstest]
    #[case("v1", "Secret", Ok(Some(("secrets", true))))]
    #[case("v1", "Namespace", Ok(Some(("namespaces", false))))]
    #[case("apps/v1", "Deployment", Ok(Some(("deployments", true))))]
    #[case("apps/v1", "Secret", Ok(None))]
    #[case("core.gardener.cloud/v1beta1", "Shoot", Ok(Some(("shoots", true))))]
    #[case("example.com/v1", "Widget", Ok(Some(("widgets", true))))]
    #[case("example.com/v2", "Widget", Err(UNKNOWN))]
    #[case("/v1", "Secret", Err(UNKNOWN))]
    #[case("a/b/c", "Secret", Err(UNKNOWN))]
    #[case("", "Secret", Err("groupVersion shouldn't be empty"))]
    fn kinds_are_found_as_discovery_finds_them(
        #[case] api_version: &str,
        #[case] kind: &str,
        #[case] want: Result<Option<(&str, bool)>, &str>,
    ) {
        let garden = TestGarden::default().with(
            CRDS,
            json!({
                "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
                "metadata": {"name": "widgets.example.com"},
                "spec": {
                    "group": "example.com", "scope": "Namespaced",
                    "names": {"plural": "widgets", "kind": "Widget"},
                    "versions": [{"name": "v1", "served": true, "storage": true,
                        "schema": {"openAPIV3Schema": {"type": "object"}}}],
                },
            }),
        );
        let want = want
            .map(|found| found.map(|(plural, namespaced)| (plural.to_owned(), namespaced)))
            .map_err(str::to_owned);
        assert_eq!(resource_of(&garden, api_version, kind), want);
    }
}
