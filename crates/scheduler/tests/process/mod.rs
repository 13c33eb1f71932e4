//! The binary as a process: messages, scheduling, leader election between two instances, exit codes.

use api::garden::Shoot;
use conformance::testing::garden_process;
use conformance::testing::process::{Binary, wait_until};
use kube::api::Api;
use serde_json::{Value, json};
use substrate::cluster::Cluster;
use substrate::embedded::Embedded;
use substrate::facts;

const BINARY: Binary<'static> = Binary {
    executable: env!("CARGO_BIN_EXE_gardener-scheduler"),
    api_version: "scheduler.config.gardener.cloud/v1alpha1",
    kind: "SchedulerConfiguration",
    connection: "clientConnection",
    lease: "gardener-scheduler-leader-election",
};

/// A garden over TLS with the profile `local`, the Seed `east`, and Shoots without Seed.
async fn garden(shoots: &[&str]) -> Embedded {
    let garden = Embedded::start(true, None).await.expect("it is served");
    let cluster = Cluster::new(garden.client());
    for namespace in ["garden", "garden-dev"] {
        facts::write_namespace(&cluster, namespace, None).await.expect("it is written");
    }
    let profile = json!({
        "apiVersion": "core.gardener.cloud/v1beta1", "kind": "CloudProfile", "metadata": {"name": "local"},
        "spec": {
            "type": "local", "regions": [], "machineTypes": [], "machineImages": [],
            "kubernetes": {"versions": [{"version": "1.27.3"}, {"version": "1.27.4"}]},
        },
    });
    facts::write(&cluster, &profile).await.expect("it is written");
    let seed = json!({
        "apiVersion": "core.gardener.cloud/v1beta1", "kind": "Seed", "metadata": {"name": "east"},
        "spec": {
            "provider": {"type": "local", "region": "local"}, "dns": {},
            "networks": {"pods": "10.1.0.0/16", "services": "10.2.0.0/16"},
        },
        "status": {
            "lastOperation": {"type": "Reconcile", "state": "Succeeded"},
            "conditions": [{"type": "GardenletReady", "status": "True"}],
        },
    });
    facts::write(&cluster, &seed).await.expect("it is written");
    for name in shoots {
        facts::write(&cluster, &shoot(name)).await.expect("it is written");
    }
    garden
}

fn shoot(name: &str) -> Value {
    json!({
        "apiVersion": "core.gardener.cloud/v1beta1", "kind": "Shoot",
        "metadata": {"name": name, "namespace": "garden-dev"},
        "spec": {
            "cloudProfileName": "local", "region": "local", "kubernetes": {"version": "1.27.3"},
            "provider": {"type": "local", "workers": []},
        },
    })
}

async fn seed_of(garden: &Embedded, name: &str) -> Option<String> {
    let shoots: Api<Shoot> = Api::namespaced(garden.client(), "garden-dev");
    shoots.get(name).await.expect("it is there").spec.seed_name
}

async fn wait_until_scheduled(garden: &Embedded, name: &str) {
    wait_until("the Shoot is scheduled", async || seed_of(garden, name).await.as_deref() == Some("east"))
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn it_leads_schedules_serves_metrics_and_releases_its_lease_on_sigterm() {
    let garden = garden(&["app"]).await;
    let metrics =
        ["controller_runtime_reconcile_total{controller=\"shoot\"", "workqueue_depth{name=\"shoot\""];
    let works = async || wait_until_scheduled(&garden, "app").await;
    garden_process::assert_leads_and_gives_up(&BINARY, &garden, works, &metrics).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_of_two_leads_and_the_other_takes_over_when_it_stops() {
    let garden = garden(&[]).await;
    let cluster = Cluster::new(garden.client());
    let works = async || {
        facts::write(&cluster, &shoot("late")).await.expect("it is written");
        wait_until_scheduled(&garden, "late").await;
    };
    garden_process::assert_one_of_two_leads(&BINARY, &garden, works).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_instance_that_loses_the_lease_exits_with_an_error() {
    garden_process::assert_losing_the_lease_ends_it(&BINARY, &garden(&[]).await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_ports_and_times_are_errors_once_the_garden_is_reached() {
    garden_process::assert_invalid_ports_and_times_end_it(&BINARY, &garden(&[]).await).await;
}

#[test]
fn invalid_input_is_an_error_with_exit_code_1() {
    garden_process::assert_invalid_input_ends_it(&BINARY);
}
