//! fluent-operator, fluent-bit and their custom resources, object by object.

mod expected_bit;
mod expected_operator;
mod expected_resources;

use rstest::rstest;
use serde_json::{Value, json};

use super::{bit, garden_resources, operator};
use crate::components::fixture::{Fixture, assert_objects, managed};
use crate::components::rendering::name_of;

/// A custom resource as it is expected.
fn resource(kind: &str, name: &str, spec: &Value) -> Value {
    json!({
        "apiVersion": "fluentbit.fluent.io/v1alpha2", "kind": kind,
        "metadata": {"name": name, "labels": {"fluentbit.gardener/type": "seed"}}, "spec": spec,
    })
}

fn everything() -> Fixture {
    Fixture::with(&json!({"spec": {
        "runtimeCluster": {
            "provider": {"zones": ["a", "b"]},
            "settings": {"verticalPodAutoscaler": {"enabled": true}, "topologyAwareRouting": {"enabled": true}},
        },
        "virtualCluster": {"controlPlane": {"highAvailability": {}}, "kubernetes": {"version": "1.28.3"}},
    }}))
    .with_hvpa()
    .with_seed_authorizer()
}

/// No field of a Garden changes it.
#[rstest]
#[case::minimal(Fixture::default())]
#[case::everything(everything())]
#[case::runtime_1_24(Fixture::default().on_runtime("1.24.0"))]
#[case::runtime_1_28(Fixture::default().on_runtime("1.28.15"))]
fn the_objects_of_the_operator(#[case] fixture: Fixture) {
    let rendering = operator::render(&fixture.values()).unwrap();
    let objects = &managed(&rendering, "fluent-operator").objects;
    assert_objects("fluent-operator", objects, &expected_operator::objects(), &[]);
    assert!(rendering.steps.is_empty());
}

/// The name of the scripts' ConfigMap has the checksum of their text.
#[rstest]
#[case::minimal(Fixture::default())]
#[case::everything(everything())]
#[case::runtime_1_24(Fixture::default().on_runtime("1.24.0"))]
fn the_objects_of_fluent_bit(#[case] fixture: Fixture) {
    let rendering = bit::render(&fixture.values()).unwrap();
    let objects = &managed(&rendering, "fluent-bit").objects;
    let scripts = objects.iter().find(|object| object["kind"] == "ConfigMap").unwrap();
    let (prefix, checksum) = name_of(scripts).rsplit_once('-').unwrap();
    assert_eq!((prefix, checksum.len()), ("fluent-bit-lua-config", 8));
    let mut want = expected_bit::objects(name_of(scripts));
    want.push(scripts.clone());
    assert_objects("fluent-bit", objects, &want, &[]);
    assert!(rendering.steps.is_empty());
}

/// Filters call functions that the scripts have.
#[test]
fn scripts_have_the_functions_that_filters_call() {
    let fixture = Fixture::default();
    let rendering = bit::render(&fixture.values()).unwrap();
    let objects = &managed(&rendering, "fluent-bit").objects;
    let scripts = objects.iter().find(|object| object["kind"] == "ConfigMap").unwrap();
    assert_eq!(scripts["immutable"], true);
    assert_eq!(scripts["data"].as_object().unwrap().len(), 2);
    let called = objects.iter().map(|object| &object["spec"]["filters"][0]["lua"]);
    let called: Vec<&Value> = called.filter(|lua| !lua.is_null()).collect();
    assert_eq!(called.len(), 2);
    for lua in called {
        let text = scripts["data"][lua["script"]["key"].as_str().unwrap()].as_str().unwrap();
        let function = format!("function {}(tag, timestamp, record)", lua["call"].as_str().unwrap());
        assert!(text.contains(&function), "{lua}");
    }
}

/// OPC-051.
#[test]
fn the_custom_resources_of_the_garden() {
    let rendering = garden_resources::render();
    let objects = &managed(&rendering, "fluent-operator-custom-resources-garden").objects;
    assert_objects("custom resources", objects, &expected_resources::objects(), &[]);
    assert!(rendering.steps.is_empty());
}
