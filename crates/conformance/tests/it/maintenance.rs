//! Rows about versions that run on a controller: it maintains a Shoot in a garden that starts at the row's time.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use conformance::gardener::Versions;
use conformance::report::{Report, Status, Verdict};
use conformance::target::{Chance, Clusters, Running, Setup, TargetError};
use kube::api::{Api, ApiResource, DynamicObject, GroupVersionKind, Patch, PatchParams};
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use webhook::dial::{DialError, Dialer, HttpAnswer};
use webhook::registration::WebhookConfiguration;

use crate::versions::{self, Garden, failures, statuses};

const CONTRACT: &str = r#"apiVersion: conformance.gardener.cloud/v1alpha1
kind: Contract
metadata: {name: sample, labels: {component: garden}}
spec:
  form: versions
  source: {document: docs/sample.md, version: v1.0}
  onlyTouches: [spec.kubernetes.version]
  now: 2024-06-01T12:00:00Z
  runsOn: [reconcile]
  clauses:
  - id: S-001
    text: a version is moved
    table: |
      | current | becomes   | told                            |
      | 1.27.3  | 1.27.4    | ["prepared", "moved to version 4. Reason: a"] |
      | 1.27.4  | unchanged | absent                          |
    shoot: {spec: {kubernetes: {version: <current>}}}
    then: {shoot: {spec: {kubernetes: {version: <becomes>}}}, told: <told>}
  - id: S-002
    text: a Shoot is maintained in its window, and next when that opens again
    table: |
      | current | maintained | from    | to      |
      | 1.27.3  | true       | 24h0m0s | 25h0m0s |
      | 1.27.4  | false      | 24h0m0s | 25h0m0s |
    shoot: {spec: {kubernetes: {version: <current>}}}
    when: {decide: window}
    then: {maintained: <maintained>, next: {from: <from>, to: <to>}}
"#;

/// The behaviour of the controller.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Manner {
    Good,
    /// Writes nothing.
    Idle,
    /// Reports another version than it writes.
    Lying,
    /// Is late by a second.
    Late,
    /// Cannot be started.
    Broken,
}

struct Maintaining(Manner);

#[async_trait]
impl Garden for Maintaining {
    async fn start(&self, setup: Setup<'_>) -> Result<Box<dyn Running>, TargetError> {
        if self.0 == Manner::Broken {
            let reason = "nothing is started".to_owned();
            return Err(TargetError::Configuration { name: "garden".to_owned(), reason });
        }
        let clusters = setup.clusters.expect("a controller has a garden");
        Ok(Box::new(Controller(tokio::spawn(maintain(clusters, self.0)))))
    }
}

impl Versions for Maintaining {
    fn maintainer(&self) -> Option<&str> {
        Some("garden")
    }
}

struct Controller(JoinHandle<()>);

#[async_trait]
impl Dialer for Controller {
    async fn post(&self, path: &str, _: Bytes, timeout: Duration) -> Result<HttpAnswer, DialError> {
        Err(DialError::Timeout { url: path.to_owned(), timeout })
    }
}

#[async_trait]
impl Running for Controller {
    fn dialer(&self) -> Arc<dyn Dialer> {
        unreachable!("it has no webhooks")
    }

    fn registrations(&self) -> Option<&[WebhookConfiguration]> {
        None
    }

    fn paths(&self, _: &str) -> Vec<String> {
        Vec::new()
    }

    async fn metrics(&self) -> Option<String> {
        // An immediate maintenance is done before any timer fires.
        Some(
            "controller_runtime_reconcile_total{controller=\"shoot-maintenance\",result=\"success\"} 1\n"
                .to_owned(),
        )
    }

    async fn stop(self: Box<Self>) {
        self.0.abort();
    }
}

/// Maintains `1.27.3` at once, everything on request, and again a day later.
async fn maintain(clusters: Clusters, manner: Manner) {
    let kind = GroupVersionKind::gvk("core.gardener.cloud", "v1beta1", "Shoot");
    let kind = ApiResource::from_gvk(&kind);
    let shoots: Api<DynamicObject> = Api::namespaced_with(clusters.source.client, "garden-dev", &kind);
    let shoot = shoots.get("app").await.expect("the row gives it");
    let version = shoot.data["spec"]["kubernetes"]["version"].clone();
    let requested = shoot.metadata.annotations.unwrap_or_default().contains_key("gardener.cloud/operation");
    if manner == Manner::Idle {
        return;
    }
    let leave = async |spec: Value| {
        let tasks =
            json!({"annotations": {"shoot.gardener.cloud/tasks": "a", "gardener.cloud/operation": null}});
        let patch = Patch::Merge(json!({"metadata": tasks, "spec": spec}));
        shoots.patch("app", &PatchParams::default(), &patch).await.expect("it is written");
    };
    if requested && version == "1.27.3" {
        let to = if manner == Manner::Lying { "5" } else { "4" };
        let description = format!("prepared, moved to version {to}. Reason: a");
        let last = json!({"description": description, "state": "Succeeded"});
        let told = Patch::Merge(json!({"status": {"lastMaintenance": last}}));
        shoots.patch_status("app", &PatchParams::default(), &told).await.expect("it is written");
        leave(json!({"kubernetes": {"version": "1.27.4"}})).await;
    } else if requested || version == "1.27.3" {
        leave(json!({})).await;
    }
    let hours = if clusters.chance == Chance::Greatest { 25 } else { 24 };
    let late = u64::from(manner == Manner::Late);
    tokio::time::sleep(Duration::from_secs(hours * 3600 + late)).await;
    leave(json!({})).await;
}

async fn run_contract(manner: Manner) -> Report {
    versions::run_contract(CONTRACT, Maintaining(manner)).await
}

/// Path, want and got of failed checks, case by case.
fn failed_checks(report: &Report) -> Vec<[&str; 3]> {
    let checks = failures(report).into_iter();
    checks.map(|check| [check.path.as_str(), check.want.as_str(), check.got.as_str()]).collect()
}

#[tokio::test]
async fn a_maintenance_is_compared_like_a_decision_and_proven() {
    let report = run_contract(Manner::Good).await;
    assert_eq!(failed_checks(&report), Vec::<[&str; 3]>::new());
    assert_eq!(statuses(&report).len(), 4);
    let counts = &report.counts;
    assert_eq!((report.verdict, counts.proven, counts.unexplained), (Verdict::Conformant, 2, 0));
}

#[tokio::test]
async fn a_controller_that_maintains_nothing_fails() {
    let report = run_contract(Manner::Idle).await;
    let failed = failed_checks(&report);
    assert!(
        failed.iter().any(|[_, _, got]| got.contains("the Shoot was not maintained within")),
        "{failed:?}"
    );
    assert!(failed.iter().any(|[_, _, got]| got.contains("no maintenance came within")), "{failed:?}");
    assert_eq!(report.verdict, Verdict::NonConformant);
}

#[tokio::test]
async fn descriptions_and_times_are_compared_with_the_row() {
    let lying = run_contract(Manner::Lying).await;
    assert_eq!(failed_checks(&lying).len(), 1, "{:?}", failed_checks(&lying));
    assert_eq!(failed_checks(&lying)[0][0], "told[1]");
    let late = run_contract(Manner::Late).await;
    let wanted: Vec<[&str; 2]> = failed_checks(&late).into_iter().map(|[path, _, got]| [path, got]).collect();
    let both = [["next.from", "24h0m1s"], ["next.to", "25h0m1s"]];
    assert_eq!(wanted, [both, both].concat());
}

#[tokio::test]
async fn a_controller_that_does_not_start_is_no_failure_of_its_clauses() {
    let report = run_contract(Manner::Broken).await;
    assert!(statuses(&report).iter().all(|(_, status)| *status == Status::Errored));
    assert_eq!((report.exit_code(), report.environment_errors.len()), (3, 1));
}
