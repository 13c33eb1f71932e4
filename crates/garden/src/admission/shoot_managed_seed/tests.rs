//! Tests of Shoots that are Seeds.

use rstest::rstest;
use serde_json::json;

use super::*;
use crate::admission::shoot_testing::{Stored, merged, outcome};

const MANAGED_SEEDS: &str = "managedseeds.seedmanagement.gardener.cloud";

fn managed(name: &str, namespace: &str, gardenlet: &Value) -> Value {
    let spec = json!({"shoot": {"name": "app"}, "gardenlet": gardenlet});
    json!({"metadata": {"name": name, "namespace": namespace}, "spec": spec})
}

fn gardenlet() -> Value {
    let seed = json!({"spec": {"secretRef": {"name": "x"}, "provider": {"zones": ["a", "b"]}}});
    let kind =
        json!({"apiVersion": "gardenlet.config.gardener.cloud/v1alpha1", "kind": "GardenletConfiguration"});
    json!({"config": merged(&kind, &json!({"seedConfig": seed}))})
}

fn shoot(change: &Value) -> Value {
    let spec = json!({
        "kubernetes": {"enableStaticTokenKubeconfig": true, "verticalPodAutoscaler": {"enabled": true}},
        "networking": {"nodes": "10.0.0.0/16"},
        "provider": {"workers": [{"name": "p", "zones": ["a", "c"]}]},
    });
    json!({"metadata": {"name": "app", "namespace": "garden-dev"}, "spec": merged(&spec, change)})
}

fn updated(stored: &Stored, change: &Value) -> (u16, String) {
    let old = shoot(&json!({}));
    let attributes = Attributes { old: Some(&old), ..stored.attributes(Operation::Update) };
    outcome(validate(&attributes, Some(&shoot(change))))
}

const INGRESS: &str = "spec.addons.nginxIngress.enabled: Invalid value: true: shoot ingress addon is not supported for \
    managed seeds - use the managed seed ingress controller";
const AUTOSCALER: &str = "spec.kubernetes.verticalPodAutoscaler.enabled: Invalid value: false: shoot VPA has to be \
    enabled for managed seeds";
const NODES: &str =
    "spec.networking.nodes: Invalid value: \"10.1.0.0/16\": field is immutable for managed seeds";
const NO_NODES: &str = "spec.networking.nodes: Invalid value: \"null\": field is immutable for managed seeds";
const TOKEN: &str = "spec.kubernetes.enableStaticTokenKubeconfig: Invalid value: false: shoot static token kubeconfig \
    cannot be disabled when the seed secretRef is set";
const NO_TOKEN: &str = "spec.kubernetes.enableStaticTokenKubeconfig: Invalid value: \"null\": shoot static token \
    kubeconfig cannot be disabled when the seed secretRef is set";
const ZONES: &str = "spec.providers.workers: Forbidden: shoot worker zone(s) must not be removed as long as registered \
    in managedseed";

#[rstest]
#[case::nothing(json!({}), &[])]
#[case::ingress(json!({"addons": {"nginxIngress": {"enabled": true}}}), &[INGRESS])]
#[case::autoscaler(json!({"kubernetes": {"verticalPodAutoscaler": null}}), &[AUTOSCALER])]
#[case::nodes(json!({"networking": {"nodes": "10.1.0.0/16"}}), &[NODES])]
#[case::no_nodes(json!({"networking": {"nodes": null}}), &[NO_NODES])]
#[case::token(json!({"kubernetes": {"enableStaticTokenKubeconfig": false}}), &[TOKEN])]
#[case::no_token(json!({"kubernetes": {"enableStaticTokenKubeconfig": null}}), &[NO_TOKEN])]
#[case::zone_of_the_seed(json!({"provider": {"workers": [{"name": "p", "zones": ["c"]}]}}), &[ZONES])]
#[case::another_zone(json!({"provider": {"workers": [{"name": "p", "zones": ["a"]}]}}), &[])]
#[case::moved_zone(json!({"provider": {"workers": [{"name": "p", "zones": ["c"]}, {"name": "q", "zones": ["a"]}]}}),
    &[])]
#[case::all(
    json!({
        "addons": {"nginxIngress": {"enabled": true}},
        "kubernetes": {"enableStaticTokenKubeconfig": false, "verticalPodAutoscaler": {"enabled": false}},
        "networking": {"nodes": "10.1.0.0/16"},
        "provider": {"workers": []},
    }),
    &[INGRESS, AUTOSCALER, NODES, TOKEN, ZONES],
)]
fn an_update_keeps_what_the_seed_needs(#[case] change: Value, #[case] errors: &[&str]) {
    let stored = Stored::default().with(MANAGED_SEEDS, managed("m", "garden-dev", &gardenlet()));
    let text = match errors {
        [] => return assert_eq!(updated(&stored, &change), (0, String::new())),
        [error] => (*error).to_owned(),
        errors => format!("[{}]", errors.join(", ")),
    };
    let want = format!("Shoot.core.gardener.cloud \"app\" is invalid: {text}");
    assert_eq!(updated(&stored, &change), (422, want));
    let elsewhere = Stored::default().with(MANAGED_SEEDS, managed("m", "garden-x", &gardenlet()));
    assert_eq!(updated(&elsewhere, &change), (0, String::new()));
}

#[rstest]
#[case::none(Value::Null, "no gardenlet specified in managedseed: \"m\"")]
#[case::other_kind(
    json!({"config": {"apiVersion": "v1", "kind": "Foo"}}),
    "could not decode gardenlet configuration: no kind \"Foo\" is registered for version \"v1\" in scheme \
     \"pkg/runtime/scheme.go:100\"",
)]
#[case::no_seed(json!({"config": {}}), "no seed config found for managedseed m")]
fn a_managed_seed_has_a_template(#[case] gardenlet: Value, #[case] want: &str) {
    let stored = Stored::default().with(MANAGED_SEEDS, managed("m", "garden-dev", &gardenlet));
    let want = format!("Internal error occurred: cannot extract the seed template: {want}");
    assert_eq!(updated(&stored, &json!({"networking": null})), (500, want));
}

#[test]
fn a_shoot_is_not_two_seeds() {
    let stored = Stored::default()
        .with(MANAGED_SEEDS, managed("m", "garden-dev", &gardenlet()))
        .with(MANAGED_SEEDS, managed("n", "garden-dev", &gardenlet()));
    let want = "Internal error occurred: could not get ManagedSeed for shoot 'garden-dev/app': found more than one \
        ManagedSeed objects for shoot garden-dev/app";
    assert_eq!(updated(&stored, &json!({})), (500, want.to_owned()));
    assert_eq!(outcome(validate(&stored.attributes(Operation::Delete), None)), (500, want.to_owned()));
}

#[test]
fn a_seed_is_not_deleted() {
    let stored = Stored::default()
        .with(MANAGED_SEEDS, managed("m", "garden-dev", &gardenlet()))
        .with_shoot(json!({"metadata": {"name": "other", "namespace": "garden-dev"}}))
        .with_shoot(json!({"metadata": {"name": "app", "namespace": "garden-x"}}));
    let want = "shoots.core.gardener.cloud \"app\" is forbidden: cannot delete shoot garden-dev/app since it is still \
        referenced by a managed seed";
    let want = (403, want.to_owned());
    let delete = stored.attributes(Operation::Delete);
    assert_eq!(outcome(validate(&delete, None)), want);
    assert_eq!(validate(&Attributes { name: "other", ..stored.attributes(Operation::Delete) }, None), Ok(()));
    // A Shoot of another namespace has the name of the Seed.
    assert_eq!(
        outcome(validate(&Attributes { name: "", ..stored.attributes(Operation::Delete) }, None)),
        want
    );
    let status = Attributes { subresource: "status", ..stored.attributes(Operation::Delete) };
    assert_eq!(validate(&status, None), Ok(()));
}
