//! What a Garden needs of its runtime cluster before anything is deployed.

use api::operator::Garden;
use api::resources::{HA_CONSIDER, HA_ZONES};
use formats::version::Version;
use kube::Client;
use serde_json::{Value, json};

use super::error::StepError;
use super::{merge, objects};
use crate::components::{NAMESPACE, RenderError};
use crate::flow::FlowCondition;

/// Label of a Namespace: which Pods it admits.
const POD_SECURITY: &str = "pod-security.kubernetes.io/enforce";
/// Group and version of the vertical pod autoscaler's kinds.
const AUTOSCALING: &str = "autoscaling.k8s.io/v1";
const AUTOSCALER: &str = "VerticalPodAutoscaler";

/// The Garden can be rendered: it has a version, and a domain.
///
/// # Errors
/// If not.
pub(super) fn check(garden: &Garden) -> Result<(), StepError> {
    let text = &garden.spec.virtual_cluster.kubernetes.version;
    Version::parse(text).map_err(|reason| {
        StepError::State(format!("failed parsing version {text:?} for virtual cluster: {reason}"))
    })?;
    if garden.spec.virtual_cluster.dns.domains.is_empty() {
        return Err(RenderError::NoDomain.into());
    }
    Ok(())
}

/// The runtime cluster serves the vertical pod autoscaler's kind, unless the operator deploys it.
///
/// # Errors
/// If it does not, or cannot be asked.
pub(super) async fn autoscaler(client: &Client, garden: &Garden) -> Result<(), StepError> {
    if FlowCondition::PodAutoscaler.holds(garden, false) {
        return Ok(());
    }
    let served = match client.list_api_group_resources(AUTOSCALING).await {
        Err(kube::Error::Api(status)) if status.code == objects::NOT_FOUND => Vec::new(),
        listed => listed?.resources,
    };
    if served.iter().any(|resource| resource.kind == AUTOSCALER) {
        return Ok(());
    }
    let text = format!(
        "VPA is required for runtime cluster but CRD is not installed: no matches for kind \"{AUTOSCALER}\" in group \
         \"autoscaling.k8s.io\""
    );
    Err(StepError::State(text))
}

/// Writes the namespace `garden`, which admits all Pods and spreads them over the zones. OPC-001.
///
/// # Errors
/// If the API server refuses.
pub(super) async fn namespace(client: &Client, garden: &Garden) -> Result<(), StepError> {
    let wanted = namespace_of(garden);
    let name = objects::name(&wanted);
    match objects::read(client, &name).await? {
        None => objects::create(client, &wanted).await.map(drop),
        Some(live) => match merge::missing(&live, &wanted) {
            Some(patch) => objects::patch(client, &name, &patch).await,
            None => Ok(()),
        },
    }
}

fn namespace_of(garden: &Garden) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {
            "name": NAMESPACE,
            "labels": {POD_SECURITY: "privileged", HA_CONSIDER: "true"},
            "annotations": {HA_ZONES: garden.spec.runtime_cluster.provider.zones.join(",")},
        },
    })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::components::fixture::Fixture;

    #[rstest]
    #[case::sound(&json!({}), None)]
    #[case::short_version(&json!({"spec": {"virtualCluster": {"kubernetes": {"version": "1.26"}}}}), None)]
    #[case::no_domain(
        &json!({"spec": {"virtualCluster": {"dns": {"domains": []}}}}),
        Some("spec.virtualCluster.dns.domains is empty: add a domain"),
    )]
    fn a_garden_is_checked_first(#[case] fields: &Value, #[case] want: Option<&str>) {
        let garden = Fixture::with(fields).garden;
        assert_eq!(check(&garden).err().map(|error| error.text()).as_deref(), want);
    }

    #[test]
    fn a_version_must_be_one() {
        let fields = json!({"spec": {"virtualCluster": {"kubernetes": {"version": "new"}}}});
        let error = check(&Fixture::with(&fields).garden).unwrap_err().text();
        assert!(error.starts_with("failed parsing version \"new\" for virtual cluster: "), "{error}");
    }

    #[test]
    fn the_namespace_names_the_zones() {
        let fields = json!({"spec": {"runtimeCluster": {"provider": {"zones": ["a", "b"]}}}});
        let namespace = namespace_of(&Fixture::with(&fields).garden);
        let want = json!({
            "name": "garden",
            "labels": {
                "pod-security.kubernetes.io/enforce": "privileged",
                "high-availability-config.resources.gardener.cloud/consider": "true",
            },
            "annotations": {"high-availability-config.resources.gardener.cloud/zones": "a,b"},
        });
        assert_eq!(namespace["metadata"], want);
        let without = namespace_of(&Fixture::default().garden);
        assert_eq!(without["metadata"]["annotations"], json!({HA_ZONES: ""}));
    }
}
