//! Versions of built-in kinds that older releases serve and the newest one does not: their lifecycle, as the markers of
//! k8s.io/api state it, and the version with the rules that hold for their objects.

use schema::{KubernetesVersion, Resource};

/// A version of a kind that is no longer served.
struct Retired {
    group: &'static str,
    version: &'static str,
    kind: &'static str,
    /// The minors since which it is deprecated, and not served any more.
    deprecated: u32,
    removed: u32,
    /// The version that deprecation warnings recommend.
    replacement: Option<&'static str>,
    /// The version whose defaults and validations apply; absent if no newer one exists.
    successor: Option<&'static str>,
}

const FLOW_CONTROL: &str = "flowcontrol.apiserver.k8s.io";

const RETIRED: [Retired; 16] = [
    of("autoscaling", "v2beta1", "HorizontalPodAutoscaler", (22, 25), (Some("v2"), Some("v2"))),
    of("autoscaling", "v2beta2", "HorizontalPodAutoscaler", (23, 26), (Some("v2"), Some("v2"))),
    of("batch", "v1beta1", "CronJob", (21, 25), (Some("v1"), Some("v1"))),
    of("discovery.k8s.io", "v1beta1", "EndpointSlice", (21, 25), (Some("v1"), Some("v1"))),
    of("events.k8s.io", "v1beta1", "Event", (22, 25), (None, Some("v1"))),
    of(FLOW_CONTROL, "v1beta1", "FlowSchema", (23, 26), (Some("v1beta2"), Some("v1"))),
    of(FLOW_CONTROL, "v1beta1", "PriorityLevelConfiguration", (23, 26), (Some("v1beta2"), Some("v1"))),
    of(FLOW_CONTROL, "v1beta2", "FlowSchema", (26, 29), (Some("v1beta3"), Some("v1"))),
    of(FLOW_CONTROL, "v1beta2", "PriorityLevelConfiguration", (26, 29), (Some("v1beta3"), Some("v1"))),
    of(FLOW_CONTROL, "v1beta3", "FlowSchema", (29, 32), (Some("v1"), Some("v1"))),
    of(FLOW_CONTROL, "v1beta3", "PriorityLevelConfiguration", (29, 32), (Some("v1"), Some("v1"))),
    of("node.k8s.io", "v1beta1", "RuntimeClass", (22, 25), (None, Some("v1"))),
    of("policy", "v1beta1", "PodDisruptionBudget", (21, 25), (Some("v1"), Some("v1"))),
    of("policy", "v1beta1", "PodSecurityPolicy", (21, 25), (None, None)),
    of("storage.k8s.io", "v1beta1", "CSIStorageCapacity", (24, 27), (Some("v1"), Some("v1"))),
    // Not a resource of its own: the body of the subresource `eviction`.
    of("policy", "v1beta1", "Eviction", (22, 25), (None, Some("v1"))),
];

const fn of(
    group: &'static str,
    version: &'static str,
    kind: &'static str,
    (deprecated, removed): (u32, u32),
    (replacement, successor): (Option<&'static str>, Option<&'static str>),
) -> Retired {
    Retired { group, version, kind, deprecated, removed, replacement, successor }
}

/// The resource in the version whose defaults and validations apply to its objects; absent if that is its own version.
pub(crate) fn successor(resource: &Resource) -> Option<Resource> {
    let version = find(resource)?.successor?;
    Some(Resource { version: version.to_owned(), ..resource.clone() })
}

/// The deprecation warning of a resource in a release; absent if it is not deprecated there.
pub(crate) fn deprecation(resource: &Resource, kubernetes: KubernetesVersion) -> Option<String> {
    let Retired { group, version, kind, deprecated, removed, replacement, .. } =
        find(resource).filter(|retired| retired.deprecated <= kubernetes.minor())?;
    let instead = replacement.map(|newer| format!("; use {group}/{newer} {kind}")).unwrap_or_default();
    Some(format!(
        "{group}/{version} {kind} is deprecated in v1.{deprecated}+, unavailable in v1.{removed}+{instead}"
    ))
}

fn find(resource: &Resource) -> Option<&'static Retired> {
    // Every version of the newest release is stable, so that most requests compare nothing else.
    if !resource.version.contains("beta") {
        return None;
    }
    RETIRED.iter().find(|retired| {
        (retired.group, retired.version, retired.kind)
            == (resource.group.as_str(), resource.version.as_str(), resource.kind.as_str())
    })
}

#[cfg(test)]
mod tests {
    use schema::Kinds;

    use super::*;

    #[test]
    fn every_beta_version_of_a_release_has_a_lifecycle_that_fits_the_release() {
        for version in KubernetesVersion::all() {
            let kinds = Kinds::of(version);
            let betas = kinds.resources().filter(|resource| resource.version.contains("beta"));
            for resource in betas {
                let name = format!("{version} {} {}", resource.api_version(), resource.kind);
                let retired = find(resource).unwrap_or_else(|| panic!("{name} has no lifecycle"));
                assert!(version.minor() < retired.removed, "{name} is served after its removal");
                if let Some(replacement) =
                    retired.replacement.filter(|_| version.minor() >= retired.deprecated)
                {
                    assert!(kinds.kind(&resource.group, replacement, &resource.kind).is_some(), "{name}");
                }
                let newest = successor(resource).map(|newer| {
                    Kinds::kubernetes().kind(&newer.group, &newer.version, &newer.kind).is_some()
                });
                assert_ne!(newest, Some(false), "{name}");
            }
        }
    }

    #[test]
    fn a_version_is_served_until_its_removal() {
        for retired in RETIRED.iter().filter(|retired| retired.kind != "Eviction") {
            let minor = KubernetesVersion::of_minor(retired.removed - 1).expect("known");
            let kinds = Kinds::of(minor);
            let served = kinds.kind(retired.group, retired.version, retired.kind);
            assert!(served.is_some(), "{minor} {}/{} {}", retired.group, retired.version, retired.kind);
        }
    }

    #[test]
    fn warnings_begin_with_the_deprecation() {
        let warning = |minor: u32, group: &str, version: &str, kind: &str| {
            let kubernetes = KubernetesVersion::of_minor(minor).expect("known");
            let kinds = Kinds::of(kubernetes);
            deprecation(kinds.kind(group, version, kind).expect("served"), kubernetes)
        };
        assert_eq!(
            warning(24, "policy", "v1beta1", "PodSecurityPolicy").as_deref(),
            Some("policy/v1beta1 PodSecurityPolicy is deprecated in v1.21+, unavailable in v1.25+")
        );
        assert_eq!(
            warning(24, "batch", "v1beta1", "CronJob").as_deref(),
            Some(
                "batch/v1beta1 CronJob is deprecated in v1.21+, unavailable in v1.25+; use batch/v1 CronJob"
            )
        );
        assert_eq!(warning(25, FLOW_CONTROL, "v1beta2", "FlowSchema"), None);
        assert!(warning(26, FLOW_CONTROL, "v1beta2", "FlowSchema").is_some());
        assert_eq!(warning(24, "batch", "v1", "CronJob"), None);
    }
}
