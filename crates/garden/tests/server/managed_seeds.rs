//! ManagedSeeds and ManagedSeedSets.

use serde_json::{Value, json};

use super::{NAMESPACE, TestGarden, collection};

const API_VERSION: &str = "seedmanagement.gardener.cloud/v1alpha1";
const MANAGED_SEED: &str =
    "/apis/seedmanagement.gardener.cloud/v1alpha1/namespaces/garden/managedseeds/local";
const SET: &str = "/apis/seedmanagement.gardener.cloud/v1alpha1/namespaces/garden/managedseedsets/local";

/// A ManagedSeed whose Seed has a backup without a Secret.
fn managed_seed() -> Value {
    let backup = json!({"provider": "local", "region": "here"});
    json!({
        "apiVersion": API_VERSION, "kind": "ManagedSeed", "metadata": {"name": "local", "namespace": "garden"},
        "spec": {
            "shoot": {"name": "app"},
            "gardenlet": {"config": {"seedConfig": {"spec": {"backup": backup}}}},
        },
    })
}

/// A set whose template has an empty Deployment.
fn set() -> Value {
    let metadata = json!({"labels": {"set": "a"}});
    json!({
        "apiVersion": API_VERSION, "kind": "ManagedSeedSet", "metadata": {"name": "local", "namespace": "garden"},
        "spec": {
            "selector": {"matchLabels": {"set": "a"}},
            "template": {
                "metadata": metadata,
                "spec": {"gardenlet": {"deployment": {}, "config": {"seedConfig": {"metadata": metadata}}}},
            },
            "shootTemplate": {
                "metadata": metadata,
                "spec": {
                    "cloudProfileName": "local", "secretBindingName": "local", "region": "here",
                    "kubernetes": {"version": "1.27.5"},
                    "networking": {"type": "calico", "nodes": "10.250.0.0/16"},
                    "provider": {"type": "local", "workers": [
                        {"name": "cpu", "machine": {"type": "large", "image": {"name": "linux"}}, "minimum": 1, "maximum": 1},
                    ]},
                },
            },
        },
    })
}

/// The Deployment of a gardenlet, with all defaults.
fn deployment() -> Value {
    json!({"replicaCount": 2, "revisionHistoryLimit": 2, "image": {"pullPolicy": "IfNotPresent"}, "vpa": true})
}

/// Code and message of the answer to a new object.
async fn refusal(garden: &TestGarden, resource: &str, object: &Value) -> (u16, String) {
    let (code, refused) =
        garden.send("POST", &collection(resource, object), "application/json", object).await;
    (code, refused["message"].as_str().unwrap_or_default().to_owned())
}

#[tokio::test(start_paused = true)]
async fn a_managed_seed_gets_its_defaults_whenever_it_is_decoded() {
    let garden = TestGarden::start().await;
    let made = garden.create("managedseeds", &managed_seed()).await;
    let secret = json!({"name": "backup-local", "namespace": "garden"});
    let backup = json!({"provider": "local", "region": "here", "secretRef": secret});
    let gardenlet = json!({
        "deployment": deployment(),
        "config": {
            "apiVersion": "gardenlet.config.gardener.cloud/v1alpha1", "kind": "GardenletConfiguration",
            "resources": {"capacity": {"shoots": "250"}},
            "seedConfig": {"spec": {"backup": backup}},
        },
        "bootstrap": "BootstrapToken",
        "mergeWithParent": true,
    });
    assert_eq!(made["spec"], json!({"shoot": {"name": "app"}, "gardenlet": gardenlet}));
    let bare = json!({"spec": {"gardenlet": {"bootstrap": null, "config": {"resources": null}}}});
    let patched = garden.patch(MANAGED_SEED, "merge-patch", &bare).await;
    assert_eq!((&patched["spec"], &patched["metadata"]["generation"]), (&made["spec"], &json!(1)));
}

#[tokio::test(start_paused = true)]
async fn an_invalid_managed_seed_is_refused() {
    let garden = TestGarden::start().await;
    let mut object = managed_seed();
    object["spec"] = json!({"gardenlet": {"deployment": {"replicaCount": -1}}});
    let message = "ManagedSeed.seedmanagement.gardener.cloud \"local\" is invalid: [spec.shoot: Required value: shoot is \
                   required, spec.gardenlet.deployment.replicaCount: Invalid value: -1: must be greater than or equal to 0]";
    assert_eq!(refusal(&garden, "managedseeds", &object).await, (422, message.to_owned()));
    let mut object = managed_seed();
    object["spec"]["gardenlet"]["config"]["kind"] = json!("Other");
    let (code, message) = refusal(&garden, "managedseeds", &object).await;
    assert_eq!(code, 400, "{message}");
    assert!(message.contains("no kind \"Other\" is registered for version"), "{message}");
    garden.create("managedseeds", &managed_seed()).await;
    let patch = json!({"spec": {"shoot": {"name": "other"}}});
    let (code, refused) = garden.try_patch(MANAGED_SEED, "merge-patch", &patch).await;
    let message = "ManagedSeed.seedmanagement.gardener.cloud \"local\" is invalid: spec.shoot: Invalid value: \
                   seedmanagement.Shoot{Name:\"other\"}: field is immutable";
    assert_eq!((code, &refused["message"]), (422, &json!(message)));
    assert_eq!(refused["details"]["causes"][0]["field"], "spec.shoot");
}

#[tokio::test(start_paused = true)]
async fn a_set_gets_its_defaults_and_is_scaled() {
    let garden = TestGarden::start().await;
    let made = garden.create("managedseedsets", &set()).await;
    let spec = &made["spec"];
    assert_eq!((&spec["replicas"], &spec["revisionHistoryLimit"]), (&json!(1), &json!(10)));
    assert_eq!(spec["updateStrategy"], json!({"type": "RollingUpdate"}));
    let gardenlet = json!({
        "deployment": deployment(),
        "config": {
            "apiVersion": "gardenlet.config.gardener.cloud/v1alpha1", "kind": "GardenletConfiguration",
            "seedConfig": {"metadata": {"labels": {"set": "a"}}},
        },
    });
    assert_eq!(spec["template"]["spec"], json!({"gardenlet": gardenlet}));
    let scaled =
        garden.patch(&format!("{SET}/scale"), "merge-patch", &json!({"spec": {"replicas": 3}})).await;
    assert_eq!((&scaled["kind"], &scaled["spec"]["replicas"]), (&json!("Scale"), &json!(3)));
    assert_eq!(scaled["status"]["selector"], "set=a");
    let (_, set) = garden.get(SET).await;
    assert_eq!((&set["spec"]["replicas"], &set["metadata"]["generation"]), (&json!(3), &json!(2)));
    assert_eq!(Value::Null, set["status"]);
}

#[tokio::test(start_paused = true)]
async fn an_invalid_set_is_refused() {
    let garden = TestGarden::start().await;
    let mut object = set();
    object["metadata"]["namespace"] = json!(NAMESPACE);
    object["spec"]["replicas"] = json!(-1);
    object["spec"]["updateStrategy"] = json!({"type": "OnDelete"});
    let message = "ManagedSeedSet.seedmanagement.gardener.cloud \"local\" is invalid: [metadata.namespace: Invalid value: \
                   \"garden-dev\": namespace must be garden, spec.replicas: Invalid value: -1: must be greater than or \
                   equal to 0, spec.updateStrategy.type: Unsupported value: \"OnDelete\": supported values: \"RollingUpdate\"]";
    assert_eq!(refusal(&garden, "managedseedsets", &object).await, (422, message.to_owned()));
    garden.create("managedseedsets", &set()).await;
    let patch = json!({"spec": {"revisionHistoryLimit": 9}});
    let (code, refused) = garden.try_patch(SET, "merge-patch", &patch).await;
    let message = "ManagedSeedSet.seedmanagement.gardener.cloud \"local\" is invalid: spec.revisionHistoryLimit: Invalid \
                   value: 9: field is immutable";
    assert_eq!((code, &refused["message"]), (422, &json!(message)));
    assert_eq!(refused["details"]["causes"][0]["field"], "spec.revisionHistoryLimit");
}
