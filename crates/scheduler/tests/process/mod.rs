//! The binary as a process: messages, scheduling, leader election between two instances, exit codes.

mod instance;

use std::time::Duration;

use controller::{CancellationToken, Entropy};
use k8s_openapi::api::coordination::v1::Lease;
use kube::api::{Api, Patch, PatchParams};
use serde_json::{Value, json};
use substrate::cluster::Cluster;
use substrate::embedded::Embedded;
use substrate::facts;

use api::garden::Shoot;

use self::instance::{Instance, run_expecting_failure, wait_until};

const LEASE: &str = "gardener-scheduler-leader-election";

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

async fn holder(garden: &Embedded) -> String {
    let leases: Api<Lease> = Api::namespaced(garden.client(), "garden");
    let lease = leases.get_opt(LEASE).await.expect("it can be asked");
    lease.and_then(|lease| lease.spec?.holder_identity).unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread")]
async fn it_leads_schedules_serves_metrics_and_releases_its_lease_on_sigterm() {
    let garden = garden(&["app"]).await;
    let mut instance = Instance::start(&garden, &json!({}));
    wait_until("the shoot is scheduled", async || seed_of(&garden, "app").await.as_deref() == Some("east"))
        .await;
    assert_eq!(instance.get("health", "/healthz").await, Some((200, "ok".to_owned())));
    assert_eq!(instance.get("health", "/readyz/informer-sync").await, Some((200, "ok".to_owned())));
    let (status, metrics) = instance.get("metrics", "/metrics").await.unwrap_or_default();
    assert_eq!(status, 200);
    for wanted in [
        "controller_runtime_reconcile_total{controller=\"shoot\"",
        "workqueue_depth{name=\"shoot\"",
        "rest_client_requests_total{code=\"200\"",
        &format!("leader_election_master_status{{name=\"{LEASE}\"}} 1"),
    ] {
        assert!(metrics.contains(wanted), "{wanted} is not among\n{metrics}");
    }
    assert_ne!(holder(&garden).await, "");
    assert_eq!(instance.stop().await, (Some(0), String::new()));
    assert_eq!(holder(&garden).await, "", "the Lease is given up");
}

#[tokio::test(flavor = "multi_thread")]
async fn one_of_two_leads_and_the_other_takes_over_when_it_stops() {
    let garden = garden(&[]).await;
    let mut both = [Instance::start(&garden, &json!({})), Instance::start(&garden, &json!({}))];
    for instance in &both {
        wait_until("it is ready", async || instance.get("health", "/readyz").await.is_some()).await;
    }
    wait_until("somebody leads", async || !holder(&garden).await.is_empty()).await;
    wait_until("one leads", async || leaders(&both).await.iter().filter(|leads| **leads).count() == 1).await;
    let leads = leaders(&both).await;
    assert_eq!(leads.iter().filter(|leads| **leads).count(), 1, "{leads:?}");
    let leader = usize::from(leads[1]);
    assert_eq!(both[leader].stop().await.0, Some(0));
    let cluster = Cluster::new(garden.client());
    facts::write(&cluster, &shoot("late")).await.expect("it is written");
    wait_until("the other schedules", async || seed_of(&garden, "late").await.as_deref() == Some("east"))
        .await;
    assert_eq!(both[1 - leader].stop().await.0, Some(0));
}

async fn leaders(instances: &[Instance; 2]) -> Vec<bool> {
    let mut found = Vec::new();
    for instance in instances {
        let (_, metrics) = instance.get("metrics", "/metrics").await.unwrap_or_default();
        found.push(metrics.contains(&format!("leader_election_master_status{{name=\"{LEASE}\"}} 1")));
    }
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn an_instance_that_loses_the_lease_exits_with_an_error() {
    let garden = garden(&[]).await;
    let fast =
        json!({"leaderElection": {"leaseDuration": "3s", "renewDeadline": "2s", "retryPeriod": "500ms"}});
    let mut instance = Instance::start(&garden, &fast);
    wait_until("it leads", async || !holder(&garden).await.is_empty()).await;
    let leases: Api<Lease> = Api::namespaced(garden.client(), "garden");
    let entropy = Entropy::seeded(1);
    let stop = CancellationToken::new();
    let (stopped, id) = (stop.clone(), entropy.uuid().to_string());
    let thief = tokio::spawn(async move {
        while !stopped.is_cancelled() {
            let time = jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S.%6fZ").to_string();
            let taken =
                json!({"spec": {"holderIdentity": id, "leaseDurationSeconds": 600, "renewTime": time}});
            let _ = leases.patch(LEASE, &PatchParams::default(), &Patch::Merge(taken)).await;
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    });
    let (code, output) = instance.wait_for_exit().await;
    stop.cancel();
    thief.await.expect("it ends");
    assert_eq!(code, Some(1), "{output}");
    assert!(output.contains("failed to run controllers"), "{output}");
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_ports_and_times_are_errors_once_the_garden_is_reached() {
    let garden = garden(&[]).await;
    for (config, wanted) in [
        (json!({"server": {"metrics": {"port": 70000}}}), "failed to listen on port 70000"),
        (
            json!({"leaderElection": {"leaseDuration": "1s"}}),
            "leaseDuration must be greater than renewDeadline",
        ),
    ] {
        let (code, output) = Instance::start(&garden, &config).wait_for_exit().await;
        assert_eq!(code, Some(1), "{output}");
        assert!(output.contains(wanted), "wanted {wanted}, got {output}");
    }
}

#[test]
fn invalid_input_is_an_error_with_exit_code_1() {
    const HEAD: &str = "apiVersion: scheduler.config.gardener.cloud/v1alpha1\nkind: SchedulerConfiguration\n";
    let kubeconfig = |user: &str| {
        format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: c\ncontexts: [{{name: c, context: {{cluster: c, user: u}}}}]\nclusters: [{{name: c, cluster: {{server: 'https://127.0.0.1:1'}}}}]\nusers: [{{name: u, user: {{{user}}}}}]\n"
        )
    };
    let connected = format!("{HEAD}clientConnection: {{kubeconfig: <kubeconfig>}}\n");
    let table: [(Option<&str>, &str, &str); 8] = [
        (None, "", "missing config file: set --config FILE"),
        (
            Some("kind: Other\n"),
            "",
            "error decoding config: failed to read the configuration: apiVersion must be scheduler.config.gardener.cloud/v1alpha1, found none",
        ),
        (
            Some(&format!("{HEAD}featureGates: {{HVPA: true}}\n")),
            "",
            "unrecognized feature gate: HVPA; gardener-scheduler has none but AllAlpha and AllBeta",
        ),
        (Some(&format!("{HEAD}logLevel: loud\n")), "", "logLevel: Unsupported value: \"loud\""),
        (
            Some(&format!("{HEAD}clientConnection: {{kubeconfig: /nowhere}}\n")),
            "",
            "failed to read kubeconfig /nowhere: No such file or directory",
        ),
        (
            Some(&connected),
            &kubeconfig("exec: {command: x}"),
            "exec configurations are not supported (user \"u\")",
        ),
        (
            Some(&connected),
            &kubeconfig("client-certificate: x"),
            "client certificate files are not supported (user \"u\")",
        ),
        (Some(&connected), "clusters: 1", "failed to read kubeconfig"),
    ];
    for (config, kubeconfig, wanted) in table {
        let (code, output) = run_expecting_failure(config, kubeconfig);
        assert_eq!(code, Some(1), "{wanted}: {output}");
        assert!(output.contains(wanted), "wanted {wanted}, got {output}");
    }
}
