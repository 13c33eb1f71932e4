//! The subresource `binding` of Shoots.

use serde_json::{Value, json};

use super::{CORE, SHOOT, TestGarden, seed, shoot};

const BINDING: &str = "/apis/core.gardener.cloud/v1beta1/namespaces/garden-dev/shoots/app/binding";

fn bind(seed: Option<&str>) -> Value {
    json!({"spec": {"seedName": seed}})
}

async fn unscheduled() -> TestGarden {
    let garden = TestGarden::start().await;
    let mut object = shoot();
    object["spec"].as_object_mut().unwrap().remove("seedName");
    garden.create("shoots", &object).await;
    garden
}

async fn refused(garden: &TestGarden, path: &str, change: &Value) -> (u16, String) {
    let (code, status) = garden.try_patch(path, "merge-patch", change).await;
    (code, status["message"].as_str().unwrap_or_default().to_owned())
}

fn forbidden(why: &str) -> (u16, String) {
    (403, format!("shoots.core.gardener.cloud \"app\" is forbidden: {why}"))
}

#[tokio::test(start_paused = true)]
async fn a_shoot_is_bound_through_the_subresource_alone() {
    let garden = unscheduled().await;
    let why =
        "spec.seedName cannot be changed by patching the shoot, please use the shoots/binding subresource";
    assert_eq!(refused(&garden, SHOOT, &bind(Some("local"))).await, forbidden(why));
    let mut binding = bind(Some("local"));
    binding["status"] = json!({"seedName": "local"});
    let bound = garden.patch(BINDING, "strategic-merge-patch", &binding).await;
    let seen = (
        &bound["kind"],
        &bound["spec"]["seedName"],
        &bound["metadata"]["generation"],
        bound["status"].get("seedName"),
    );
    assert_eq!(seen, (&json!("Shoot"), &json!("local"), &json!(2), None));
    let again = refused(&garden, BINDING, &bind(Some("local"))).await;
    assert_eq!(
        again,
        (500, "update of binding rejected, shoot is already assigned to the same seed".to_owned())
    );
    let none = refused(&garden, BINDING, &bind(None)).await;
    assert_eq!(none, forbidden("spec.seedName cannot be set to nil"));
    let unset = refused(&garden, SHOOT, &bind(None)).await;
    assert_eq!(unset, forbidden(why));
    let (code, _) = garden.send("POST", BINDING, "application/json", &shoot()).await;
    assert_eq!(code, 405);
    assert_eq!(garden.get(BINDING).await.1["kind"], "Shoot");
}

#[tokio::test(start_paused = true)]
async fn a_seed_must_exist_and_take_the_shoot() {
    let garden = unscheduled().await;
    let missing = "seed.core.gardener.cloud \"none\" not found";
    assert_eq!(refused(&garden, BINDING, &bind(Some("none"))).await, forbidden(missing));
    let mut tainted = seed("tainted");
    tainted["spec"]["taints"] = json!([{"key": "t"}]);
    garden.create("seeds", &tainted).await;
    let why = "forbidden to use a seed whose taints are not tolerated by the shoot";
    assert_eq!(refused(&garden, BINDING, &bind(Some("tainted"))).await, forbidden(why));
    let full = json!({"status": {"allocatable": {"shoots": "0"}}});
    garden.patch(&format!("{CORE}/seeds/local/status"), "merge-patch", &full).await;
    let why = "cannot schedule shoot 'app' on seed 'local' that already has the maximum number of shoots scheduled on it (0)";
    assert_eq!(refused(&garden, BINDING, &bind(Some("local"))).await, forbidden(why));
    garden
        .patch(
            &format!("{CORE}/seeds/local/status"),
            "merge-patch",
            &json!({"status": {"allocatable": null}}),
        )
        .await;
    let profile = format!("{CORE}/cloudprofiles/local");
    let selector = |selector: Value| json!({"spec": {"seedSelector": selector}});
    garden.patch(&profile, "merge-patch", &selector(json!({"matchLabels": {"a": "b"}}))).await;
    let why = "cannot schedule shoot 'app' on seed 'local' because the seed selector of cloud profile 'local' is not matching \
               the labels of the seed";
    assert_eq!(refused(&garden, BINDING, &bind(Some("local"))).await, forbidden(why));
    garden
        .patch(&profile, "merge-patch", &selector(json!({"matchLabels": null, "providerTypes": ["x"]})))
        .await;
    let why = "cannot schedule shoot 'app' on seed 'local' because none of the provider types in the seed selector of cloud \
               profile 'local' is matching the provider type of the seed";
    assert_eq!(refused(&garden, BINDING, &bind(Some("local"))).await, forbidden(why));
    garden.patch(&profile, "merge-patch", &selector(json!({"providerTypes": ["*"]}))).await;
    let deleted = json!({"metadata": {"finalizers": ["gardener"]}});
    garden.patch(&format!("{CORE}/seeds/local"), "merge-patch", &deleted).await;
    garden.send("DELETE", &format!("{CORE}/seeds/local"), "application/json", &Value::Null).await;
    let why = "cannot schedule shoot 'app' on seed 'local' that is already marked for deletion";
    assert_eq!(refused(&garden, BINDING, &bind(Some("local"))).await, forbidden(why));
}

#[tokio::test(start_paused = true)]
async fn a_shoot_moves_between_seeds_with_backups_of_one_provider_and_stays_as_it_is() {
    let garden = unscheduled().await;
    garden.patch(BINDING, "merge-patch", &bind(Some("local"))).await;
    let mut other = seed("other");
    other["spec"]["provider"]["type"] = json!("aws");
    garden.create("seeds", &other).await;
    let mut unbacked = seed("unbacked");
    unbacked["spec"].as_object_mut().unwrap().remove("backup");
    garden.create("seeds", &unbacked).await;
    garden.create("seeds", &seed("next")).await;
    let why = "cannot change seed because cloud provider for new seed (aws) is not equal to cloud provider for old seed (local)";
    assert_eq!(refused(&garden, BINDING, &bind(Some("other"))).await, forbidden(why));
    let why = "cannot change seed name because backup is not configured for seed \"unbacked\"";
    assert_eq!(refused(&garden, BINDING, &bind(Some("unbacked"))).await, forbidden(why));
    let more = json!({"spec": {"seedName": "next", "purpose": "production"}});
    let why = "only spec.seedName can be changed using the binding subresource when the shoot is being rescheduled to a new seed";
    assert_eq!(refused(&garden, BINDING, &more).await, forbidden(why));
    let moved = garden.patch(BINDING, "merge-patch", &bind(Some("next"))).await;
    assert_eq!((&moved["spec"]["seedName"], &moved["metadata"]["generation"]), (&json!("next"), &json!(3)));
    let operation = |kind: &str, state: &str| json!({"status": {"seedName": "local", "lastOperation": {"type": kind, "state": state}}});
    let purpose = json!({"spec": {"purpose": "production"}});
    let table = [
        (
            operation("Reconcile", "Succeeded"),
            "shoot spec cannot be changed because shoot has been rescheduled to a new seed",
        ),
        (
            operation("Migrate", "Processing"),
            "cannot change shoot spec during Migrate operation that is in state Processing",
        ),
    ];
    for (status, why) in table {
        garden.patch(&format!("{SHOOT}/status"), "merge-patch", &status).await;
        assert_eq!(refused(&garden, SHOOT, &purpose).await, forbidden(why));
    }
    garden.patch(SHOOT, "merge-patch", &json!({"metadata": {"labels": {"a": "b"}}})).await;
}
