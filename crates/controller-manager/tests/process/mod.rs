//! The binary as a process: messages, maintenance, leader election between two instances, exit codes.

use std::time::Duration;

use api::garden::Shoot;
use conformance::testing::garden_process;
use conformance::testing::process::{Binary, wait_until};
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::Secret;
use kube::api::{Api, DeleteParams};
use serde_json::{Value, json};
use substrate::cluster::Cluster;
use substrate::embedded::Embedded;
use substrate::facts;
use tokio::time::sleep;

const BINARY: Binary<'static> = Binary {
    executable: env!("CARGO_BIN_EXE_gardener-controller-manager"),
    api_version: "controllermanager.config.gardener.cloud/v1alpha1",
    kind: "ControllerManagerConfiguration",
    connection: "gardenClientConnection",
    lease: "gardener-controller-manager-leader-election",
};

/// A garden over TLS with the profile `local`, whose highest version is 1.27.4, and Shoots whose maintenance is due.
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
    for name in shoots {
        facts::write(&cluster, &shoot(name)).await.expect("it is written");
    }
    garden
}

fn shoot(name: &str) -> Value {
    json!({
        "apiVersion": "core.gardener.cloud/v1beta1", "kind": "Shoot",
        "metadata": {
            "name": name, "namespace": "garden-dev",
            "annotations": {"gardener.cloud/operation": "maintain"},
        },
        "spec": {
            "cloudProfileName": "local", "region": "local", "kubernetes": {"version": "1.27.3"},
            "provider": {"type": "local", "workers": []},
        },
    })
}

async fn version(garden: &Embedded, name: &str) -> Option<String> {
    let shoots: Api<Shoot> = Api::namespaced(garden.client(), "garden-dev");
    shoots.get(name).await.expect("it is there").spec.kubernetes.version
}

async fn wait_until_maintained(garden: &Embedded, name: &str) {
    wait_until("the Shoot is maintained", async || version(garden, name).await.as_deref() == Some("1.27.4"))
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn it_leads_maintains_serves_metrics_and_releases_its_lease_on_sigterm() {
    let garden = garden(&["app"]).await;
    let metrics = [
        "controller_runtime_reconcile_total{controller=\"shoot-maintenance\"",
        "workqueue_depth{name=\"cloudprofile\"",
    ];
    let works = async || wait_until_maintained(&garden, "app").await;
    garden_process::assert_leads_and_gives_up(&BINARY, &garden, works, &metrics).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_of_two_leads_and_the_other_takes_over_when_it_stops() {
    let garden = garden(&[]).await;
    let cluster = Cluster::new(garden.client());
    let works = async || {
        facts::write(&cluster, &shoot("late")).await.expect("it is written");
        wait_until_maintained(&garden, "late").await;
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

#[tokio::test(flavor = "multi_thread")]
async fn an_instance_that_does_not_lead_does_not_bootstrap_the_garden() {
    let garden = garden(&[]).await;
    let cluster = Cluster::new(garden.client());
    let held = json!({
        "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
        "metadata": {"name": BINARY.lease, "namespace": "garden"},
        "spec": {"holderIdentity": "another", "leaseDurationSeconds": 600, "renewTime": "2026-01-01T00:00:00.000000Z"},
    });
    facts::write(&cluster, &held).await.expect("it is written");
    let secrets: Api<Secret> = Api::namespaced(garden.client(), "garden");
    let credential =
        async || secrets.get_opt("observability-ingress-0da36eb1").await.expect("the garden answers");
    let fast =
        json!({"leaderElection": {"leaseDuration": "5s", "renewDeadline": "2s", "retryPeriod": "500ms"}});
    let mut instance = BINARY.start(&garden, &fast);
    let leads = format!("leader_election_master_status{{name=\"{}\"}}", BINARY.lease);
    let status = async |value: &str| instance.metrics().await.contains(&format!("{leads} {value}"));
    wait_until("it waits for the Lease", async || status("0").await).await;
    sleep(Duration::from_secs(2)).await;
    assert!(status("0").await && credential().await.is_none());
    let leases: Api<Lease> = Api::namespaced(garden.client(), "garden");
    leases.delete(BINARY.lease, &DeleteParams::default()).await.expect("it is deleted");
    wait_until("it leads and has bootstrapped", async || status("1").await && credential().await.is_some())
        .await;
    assert_eq!(instance.stop().await.code, Some(0));
}

#[test]
fn invalid_input_is_an_error_with_exit_code_1() {
    garden_process::assert_invalid_input_ends_it(&BINARY);
}
