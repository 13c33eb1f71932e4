//! Istio of several Gardens, object by object.

mod expected_filters;
mod expected_gateway;
mod expected_istiod;
mod expected_istiod_rules;

use formats::yaml;
use rstest::rstest;
use serde_json::{Value, json};

use super::*;
use crate::components::fixture::{Fixture, assert_objects, managed, set};

fn in_zones(zones: &[&str]) -> Fixture {
    Fixture::with(&json!({"spec": {"runtimeCluster": {"provider": {"zones": zones}}}}))
}

fn with_annotations() -> Fixture {
    Fixture::with(&json!({"spec": {"runtimeCluster": {"settings": {
        "loadBalancerServices": {"annotations": {"a": "b"}},
    }}}}))
}

fn highly_available() -> Fixture {
    Fixture::with(&json!({"spec": {"virtualCluster": {"controlPlane": {"highAvailability": {}}}}}))
}

fn of_target_version(version: &str) -> Fixture {
    Fixture::with(&json!({"spec": {"virtualCluster": {"kubernetes": {"version": version}}}}))
}

/// Objects with what files of a ConfigMap say instead of their texts, and without the value of a checksum, which is one of SHA-256.
fn comparable(objects: &[Value], checksum_key: &str) -> Vec<Value> {
    let mut objects = objects.to_vec();
    for object in &mut objects {
        if object["kind"] == "ConfigMap" {
            for text in object["data"].as_object_mut().unwrap().values_mut() {
                *text = yaml::from_str(text.as_str().unwrap()).unwrap();
            }
        }
        if object["kind"] == "Deployment" {
            let pointer = format!("/spec/template/metadata/annotations/{}", checksum_key.replace('/', "~1"));
            assert_eq!(object.pointer(&pointer).unwrap().as_str().unwrap().len(), 64);
            set(object, &pointer, &json!("checksum"));
        }
    }
    objects
}

/// No field of a Garden changes istiod.
#[rstest]
#[case::minimal(Fixture::default())]
#[case::highly_available(highly_available())]
#[case::zones(in_zones(&["a", "b", "c"]))]
#[case::annotations(with_annotations())]
#[case::hvpa(Fixture::default().with_hvpa())]
#[case::runtime_1_24(Fixture::default().on_runtime("1.24.0"))]
#[case::runtime_1_28(Fixture::default().on_runtime("1.28.15"))]
fn the_objects_of_istiod(#[case] fixture: Fixture) {
    let rendering = render(&fixture.values()).unwrap();
    let istiod = managed(&rendering, "istio-system");
    assert_eq!((istiod.namespace.as_str(), istiod.keeps_objects), ("istio-system", false));
    let objects = comparable(&istiod.objects, "checksum/istio-config");
    assert_objects("istiod", &objects, &expected_istiod::objects(), &[]);
}

/// OPC-046, OPC-048.
#[rstest]
#[case::minimal(Fixture::default(), 2, 5, &[])]
#[case::highly_available(highly_available(), 2, 5, &[])]
#[case::hvpa(Fixture::default().with_hvpa(), 2, 5, &[])]
#[case::runtime_1_24(Fixture::default().on_runtime("1.24.0"), 2, 5, &[])]
#[case::target_1_24(of_target_version("1.24.17"), 2, 5, &[])]
#[case::target_1_28(of_target_version("1.28.3"), 2, 5, &[])]
#[case::one_zone(in_zones(&["a"]), 2, 5, &[])]
#[case::two_zones(in_zones(&["a", "b"]), 4, 8, &[])]
#[case::three_zones(in_zones(&["a", "b", "c"]), 6, 12, &[])]
#[case::annotations(
    with_annotations(), 2, 5, &[("Service/istio-ingressgateway", "/metadata/annotations/a", json!("b"))]
)]
fn the_objects_of_the_gateway(
    #[case] fixture: Fixture,
    #[case] least: u32,
    #[case] most: u32,
    #[case] changes: &[(&str, &str, Value)],
) {
    let rendering = render(&fixture.values()).unwrap();
    let gateway = managed(&rendering, "virtual-garden-istio");
    assert_eq!((gateway.namespace.as_str(), gateway.keeps_objects), ("istio-system", false));
    let objects = comparable(&gateway.objects, "checksum/configmap-bootstrap-config-override");
    let want = [expected_gateway::objects(least, most), expected_filters::objects()].concat();
    assert_objects("gateway", &objects, &want, changes);
}

/// OPC-047: the annotation for a single zone is not taken back.
#[rstest]
#[case::none(&[], "", false)]
#[case::one(&["a"], "a", true)]
#[case::three(&["a", "b", "c"], "a,b,c", false)]
fn namespaces_know_the_zones(#[case] zones: &[&str], #[case] joined: &str, #[case] is_pinned: bool) {
    let namespace = |name: &str, role: &str| {
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {
            "name": name,
            "labels": {
                "istio-operator-managed": "Reconcile", "istio-injection": "disabled",
                "pod-security.kubernetes.io/enforce": "baseline", "gardener.cloud/role": role,
                "high-availability-config.resources.gardener.cloud/consider": "true",
            },
            "annotations": {"high-availability-config.resources.gardener.cloud/zones": joined},
        }})
    };
    let mut of_gateway = namespace("virtual-garden-istio-ingress", "istio-ingress");
    of_gateway["metadata"]["labels"]["istio"] = "ingressgateway".into();
    if is_pinned {
        let pinning = "high-availability-config.resources.gardener.cloud/zone-pinning";
        of_gateway["metadata"]["annotations"][pinning] = "true".into();
    }
    let filter = |name: &str| {
        DirectStep::Delete(ObjectName {
            api_version: "networking.istio.io/v1alpha3".to_owned(),
            kind: "EnvoyFilter".to_owned(),
            namespace: "virtual-garden-istio-ingress".to_owned(),
            name: name.to_owned(),
        })
    };
    let want = [
        DirectStep::Patch(namespace("istio-system", "istio-system")),
        filter("tcp-stats-filter-1.11"),
        filter("stats-filter-1.11"),
        filter("tcp-stats-filter-1.12"),
        filter("stats-filter-1.12"),
        DirectStep::Patch(of_gateway),
    ];
    assert_eq!(render(&in_zones(zones).values()).unwrap().steps, want);
}

/// Pods are replaced when the configuration changes.
#[test]
fn checksums_depend_on_the_data() {
    let of = |text: &str| checksum(&json!({"metadata": {"name": "a"}, "data": {"a": text}})).unwrap();
    assert_eq!(of("b"), of("b"));
    assert_ne!(of("b"), of("c"));
}
