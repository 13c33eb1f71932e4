//! The Service of kube-apiserver of the virtual cluster, which Istio's gateway forwards to.

use std::collections::BTreeMap;
use std::time::Duration;

use api::networking::NAMESPACE_SELECTORS;
use serde_json::Value;

use super::existing::remove_stale;
use super::kube_apiserver::{NAME, labels};
use super::lifecycle::{AwaitedState, Lifecycle, ObjectWait, PAUSE, RemovalStep};
use super::networks::AllowedPods;
use super::objects::{annotate, service, service_port};
use super::rendering::{DirectStep, ObjectName, Rendering};
use super::topology;
use super::values::GardenValues;

const PORT: u16 = 443;
/// Istio forwards to Services that say so.
const EXPORT_TO: &str = "networking.istio.io/exportTo";
/// Namespaces whose Pods may connect: those of gateways, and those of clients.
const CLIENT_NAMESPACES: &str = r#"[{"matchLabels":{"gardener.cloud/role":"istio-ingress"}},{"matchLabels":{"networking.gardener.cloud/access-target-apiserver":"allowed"}}]"#;
/// The Service of Istio's gateway.
const GATEWAY: &str = "istio-ingressgateway";
/// Its namespace.
pub(super) const GATEWAY_NAMESPACE: &str = "virtual-garden-istio-ingress";
/// The address in a cluster of a developer.
const LOCAL_ADDRESS: &str = "10.2.10.2";

/// What must be written. Annotations for load balancers stay when a Garden has them no longer, as in the original. OPC-019, OPC-068.
#[must_use]
pub fn render(values: &GardenValues<'_>) -> Rendering {
    let existing = values.observed.existing.get("v1", "Service", NAME);
    let mut service = service(NAME, &labels(), &[service_port("kube-apiserver", PORT, PORT)]);
    let own = BTreeMap::from([
        (EXPORT_TO.to_owned(), "*".to_owned()),
        AllowedPods::ScrapeTargets.annotation(&[PORT]),
        (NAMESPACE_SELECTORS.to_owned(), CLIENT_NAMESPACES.to_owned()),
    ]);
    for annotation in values.load_balancer_annotations().into_iter().chain(own) {
        annotate(&mut service, annotation);
    }
    let address = existing.and_then(|existing| existing["spec"]["clusterIP"].as_str()).unwrap_or_default();
    if values.observed.is_local && address.is_empty() {
        service["spec"]["clusterIP"] = Value::from(LOCAL_ADDRESS);
    }
    topology::set_routing(&mut service, values);
    remove_stale(&mut service, existing, &topology::FIELDS);
    Rendering { steps: vec![DirectStep::Patch(service)], ..Rendering::default() }
}

/// Istio's gateway must have an address; after the deletion, the Service must be gone. OPC-069.
#[must_use]
pub fn lifecycle() -> Lifecycle {
    let gateway = ObjectName {
        namespace: GATEWAY_NAMESPACE.to_owned(),
        ..ObjectName::in_garden("v1", "Service", GATEWAY)
    };
    let service = ObjectName::in_garden("v1", "Service", NAME);
    let within = Duration::from_mins(10);
    Lifecycle {
        ready: vec![ObjectWait::every_five_seconds(gateway, AwaitedState::LoadBalancer, within)],
        removal: vec![RemovalStep::Object(service.clone())],
        gone: vec![ObjectWait { object: service, state: AwaitedState::Gone, every: PAUSE, within: None }],
        ..Lifecycle::default()
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;
    use crate::components::fixture::{Fixture, assert_objects};

    const SERVICE: &str = "Service/virtual-garden-kube-apiserver";

    fn fixture(settings: &Value) -> Fixture {
        Fixture::with(&json!({"spec": {"runtimeCluster": {"settings": settings}}}))
    }

    fn local(mut fixture: Fixture) -> Fixture {
        fixture.observed.is_local = true;
        fixture
    }

    fn with_existing(mut fixture: Fixture, service: Value) -> Fixture {
        fixture.observed.existing.0.insert(ObjectName::in_garden("v1", "Service", NAME), service);
        fixture
    }

    fn expected() -> Value {
        json!({
            "apiVersion": "v1", "kind": "Service",
            "metadata": {
                "name": "virtual-garden-kube-apiserver", "namespace": "garden",
                "labels": {"app": "kubernetes", "role": "apiserver"},
                "annotations": {
                    "networking.istio.io/exportTo": "*",
                    "networking.resources.gardener.cloud/from-all-scrape-targets-allowed-ports": r#"[{"protocol":"TCP","port":443}]"#,
                    "networking.resources.gardener.cloud/namespace-selectors": r#"[{"matchLabels":{"gardener.cloud/role":"istio-ingress"}},{"matchLabels":{"networking.gardener.cloud/access-target-apiserver":"allowed"}}]"#,
                },
            },
            "spec": {
                "type": "ClusterIP", "selector": {"app": "kubernetes", "role": "apiserver"},
                "ports": [{"name": "kube-apiserver", "protocol": "TCP", "port": 443, "targetPort": 443}],
            },
        })
    }

    #[rstest]
    #[case::small(Fixture::default(), &[])]
    #[case::load_balancer_annotations(
        fixture(&json!({"loadBalancerServices": {"annotations": {"a": "b", "networking.istio.io/exportTo": "."}}})),
        &[(SERVICE, "/metadata/annotations/a", json!("b"))]
    )]
    #[case::topology_aware_routing(
        fixture(&json!({"topologyAwareRouting": {"enabled": true}})),
        &[
            (SERVICE, "/metadata/annotations/service.kubernetes.io~1topology-mode", json!("auto")),
            (SERVICE, "/metadata/labels/endpoint-slice-hints.resources.gardener.cloud~1consider", json!("true")),
        ]
    )]
    #[case::topology_aware_routing_before_1_27(
        fixture(&json!({"topologyAwareRouting": {"enabled": true}})).on_runtime("1.26.1"),
        &[
            (SERVICE, "/metadata/annotations/service.kubernetes.io~1topology-aware-hints", json!("auto")),
            (SERVICE, "/metadata/labels/endpoint-slice-hints.resources.gardener.cloud~1consider", json!("true")),
        ]
    )]
    #[case::local(local(Fixture::default()), &[(SERVICE, "/spec/clusterIP", json!("10.2.10.2"))])]
    #[case::local_with_an_address(
        with_existing(local(Fixture::default()), json!({"spec": {"clusterIP": "10.2.0.1"}})),
        &[]
    )]
    fn the_service_is_rendered_whole(#[case] fixture: Fixture, #[case] changes: &[(&str, &str, Value)]) {
        let rendering = render(&fixture.values());
        assert_objects(
            "service",
            rendering.steps.iter().filter_map(DirectStep::object),
            &[expected()],
            changes,
        );
    }

    #[test]
    fn routing_that_was_enabled_is_removed() {
        let existing = json!({"metadata": {
            "labels": {"endpoint-slice-hints.resources.gardener.cloud/consider": "true"},
            "annotations": {"service.kubernetes.io/topology-mode": "auto", "a": "b"},
        }});
        let rendering = render(&with_existing(Fixture::default(), existing).values());
        let mut want = expected();
        want["metadata"]["labels"]["endpoint-slice-hints.resources.gardener.cloud/consider"] = Value::Null;
        want["metadata"]["annotations"]["service.kubernetes.io/topology-mode"] = Value::Null;
        assert_eq!(rendering.steps, [DirectStep::Patch(want)]);
    }
}
