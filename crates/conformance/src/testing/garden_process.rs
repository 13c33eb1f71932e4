//! What every program of a garden does, whatever its controllers are: one instance leads, and invalid input ends it.

use std::time::Duration;

use controller::{CancellationToken, Entropy};
use kube::api::{Api, ApiResource, DynamicObject, Patch, PatchParams};
use kube::core::GroupVersionKind;
use serde_json::json;
use substrate::embedded::Embedded;

use super::process::{Binary, Ended, Instance, wait_until};

/// Asserts that an instance answers health checks, counts its requests and gives its Lease up on SIGTERM; `works` waits until
/// the controllers have done something, and `metrics` are those that show it.
///
/// # Panics
/// If it does not.
pub async fn assert_leads_and_gives_up(
    binary: &Binary<'_>,
    garden: &Embedded,
    works: impl AsyncFn(),
    metrics: &[&str],
) {
    let mut instance = binary.start(garden, &json!({}));
    works().await;
    assert_eq!(instance.health("/healthz").await, Some((200, "ok".to_owned())));
    assert_eq!(instance.health("/readyz/informer-sync").await, Some((200, "ok".to_owned())));
    let found = instance.metrics().await;
    let leads = leads(binary);
    for wanted in metrics.iter().copied().chain(["rest_client_requests_total{code=\"200\"", &leads]) {
        assert!(found.contains(wanted), "{wanted} is not among\n{found}");
    }
    assert_ne!(holder(binary, garden).await, "");
    assert_eq!(instance.stop().await, Ended { code: Some(0), output: String::new() });
    assert_eq!(holder(binary, garden).await, "", "the Lease is given up");
}

/// Asserts that one of two instances leads, and that the other takes over when it stops; `works` gives the controllers
/// something to do and waits until it is done.
///
/// # Panics
/// If it does not.
pub async fn assert_one_of_two_leads(binary: &Binary<'_>, garden: &Embedded, works: impl AsyncFn()) {
    let mut both = [binary.start(garden, &json!({})), binary.start(garden, &json!({}))];
    for instance in &both {
        wait_until("it is ready", async || instance.health("/readyz").await.is_some()).await;
    }
    wait_until("one leads", async || {
        leaders(binary, &both).await.iter().filter(|leads| **leads).count() == 1
    })
    .await;
    let leader = usize::from(leaders(binary, &both).await[1]);
    assert_eq!(both[leader].stop().await.code, Some(0));
    works().await;
    assert_eq!(both[1 - leader].stop().await.code, Some(0));
}

/// Asserts that an instance whose Lease another holder takes exits with 1.
///
/// # Panics
/// If it does not.
pub async fn assert_losing_the_lease_ends_it(binary: &Binary<'_>, garden: &Embedded) {
    let fast =
        json!({"leaderElection": {"leaseDuration": "3s", "renewDeadline": "2s", "retryPeriod": "500ms"}});
    let mut instance = binary.start(garden, &fast);
    wait_until("it leads", async || !holder(binary, garden).await.is_empty()).await;
    let stop = CancellationToken::new();
    let (stopped, id) = (stop.clone(), Entropy::seeded(1).uuid().to_string());
    let (leases, name) = (leases(garden), binary.lease.to_owned());
    let thief = tokio::spawn(async move {
        while !stopped.is_cancelled() {
            let time = jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S.%6fZ").to_string();
            let taken =
                json!({"spec": {"holderIdentity": id, "leaseDurationSeconds": 600, "renewTime": time}});
            let _ = leases.patch(&name, &PatchParams::default(), &Patch::Merge(taken)).await;
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    });
    let Ended { code, output } = instance.wait_for_end().await;
    stop.cancel();
    thief.await.expect("it ends");
    assert_eq!(code, Some(1), "{output}");
    assert!(output.contains("failed to run controllers"), "{output}");
}

/// Asserts that invalid ports and times end an instance once the garden is reached.
///
/// # Panics
/// If they do not.
pub async fn assert_invalid_ports_and_times_end_it(binary: &Binary<'_>, garden: &Embedded) {
    for (config, wanted) in [
        (json!({"server": {"metrics": {"port": 70000}}}), "failed to listen on port 70000"),
        (
            json!({"leaderElection": {"leaseDuration": "1s"}}),
            "leaseDuration must be greater than renewDeadline",
        ),
    ] {
        let ended = binary.start(garden, &config).wait_for_end().await;
        assert_failed(&ended, wanted);
    }
}

/// Asserts that a configuration or kubeconfig that cannot be used ends the program with 1 and a message that names the file.
///
/// # Panics
/// If it does not.
pub fn assert_invalid_input_ends_it(binary: &Binary<'_>) {
    let Binary { api_version, connection, .. } = binary;
    let connected = binary.file(&format!("{connection}: {{kubeconfig: <kubeconfig>}}\n"));
    let other = format!("error decoding config: apiVersion must be {api_version}, found none (in /");
    let table: [(Option<String>, String, &str); 8] = [
        (None, String::new(), "missing config file: set --config FILE"),
        (Some("kind: Other\n".to_owned()), String::new(), &other),
        (
            Some(binary.file("featureGates: {HVPA: true}\n")),
            String::new(),
            "has none but AllAlpha and AllBeta (in /",
        ),
        (Some(binary.file("logLevel: loud\n")), String::new(), "logLevel: Unsupported value: \"loud\""),
        (
            Some(binary.file(&format!("{connection}: {{kubeconfig: /nowhere}}\n"))),
            String::new(),
            "failed to read kubeconfig /nowhere: No such file or directory",
        ),
        (
            Some(connected.clone()),
            kubeconfig("exec: {command: x}"),
            "exec configurations are not supported (user \"u\")",
        ),
        (
            Some(connected.clone()),
            kubeconfig("client-certificate: x"),
            "client certificate files are not supported (user \"u\")",
        ),
        (Some(connected), "clusters: 1".to_owned(), "failed to read kubeconfig"),
    ];
    for (config, kubeconfig, wanted) in table {
        assert_failed(&binary.run(config.as_deref(), &kubeconfig), wanted);
    }
}

fn assert_failed(Ended { code, output }: &Ended, wanted: &str) {
    assert_eq!(*code, Some(1), "{wanted}: {output}");
    assert!(output.contains(wanted), "wanted {wanted}, got {output}");
}

fn kubeconfig(user: &str) -> String {
    let context = "current-context: c\ncontexts: [{name: c, context: {cluster: c, user: u}}]";
    let cluster = "clusters: [{name: c, cluster: {server: 'https://127.0.0.1:1'}}]";
    format!("apiVersion: v1\nkind: Config\n{context}\n{cluster}\nusers: [{{name: u, user: {{{user}}}}}]\n")
}

fn leads(binary: &Binary<'_>) -> String {
    format!("leader_election_master_status{{name=\"{}\"}} 1", binary.lease)
}

async fn leaders(binary: &Binary<'_>, instances: &[Instance; 2]) -> [bool; 2] {
    let leads = leads(binary);
    let [first, second] = instances;
    [first.metrics().await.contains(&leads), second.metrics().await.contains(&leads)]
}

fn leases(garden: &Embedded) -> Api<DynamicObject> {
    let kind = GroupVersionKind::gvk("coordination.k8s.io", "v1", "Lease");
    Api::namespaced_with(garden.client(), "garden", &ApiResource::from_gvk(&kind))
}

async fn holder(binary: &Binary<'_>, garden: &Embedded) -> String {
    let lease = leases(garden).get_opt(binary.lease).await.expect("the garden answers");
    let holder = lease.as_ref().and_then(|lease| lease.data["spec"]["holderIdentity"].as_str());
    holder.unwrap_or_default().to_owned()
}
