//! Removes the taint of nodes whose critical components are ready (contracts/resource-manager/controllers/node).
//!
//! A node with the taint is checked when it appears, and then again and again until it is ready.

mod daemon;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use api::gardener::{NODE_CRITICAL_COMPONENT, TAINT_CRITICAL_COMPONENTS_NOT_READY, WAIT_FOR_CSI_NODE_PREFIX};
use controller::events::{EventType, Recorder, recorder};
use controller::{Controller, Event, Index, Outcome, Reconcile, Request, Selection, Store, Watch};
use formats::duration::GoDuration;
use k8s_openapi::api::apps::v1::DaemonSet;
use k8s_openapi::api::core::v1::{Node, Pod};
use k8s_openapi::api::storage::v1::CSINode;
use kube::api::{Api, Patch, PatchParams};
use kube::{Client, Resource, ResourceExt as _};
use serde_json::json;

use super::{Context, TIMEOUT};

/// Name in log and metrics.
pub const NAME: &str = "node";
/// Source component of the events.
const RECORDER: &str = "gardener-node-controller";
/// Default time before a node is checked again.
const BACKOFF: Duration = Duration::from_secs(10);

/// The controller of one instance.
pub fn controller(context: &Context) -> Controller {
    let (target, config) = (&context.target, &context.config.controllers.node);
    let critical = format!("{NODE_CRITICAL_COMPONENT}=true");
    let nodes = target.store(Selection::all().reduced("scheduling", without_status));
    let pods = target.store(Selection::all().labels(&critical).reduced("readiness", without_containers));
    let (client, clock, entropy) = (target.client(), context.clock, context.entropy.clone());
    let (recorder, writer) = recorder(client.clone(), RECORDER, clock, entropy);
    let appeared = Watch::of(&nodes).filter(|event| matches!(event, Event::Create(node) if is_tainted(node)));
    let reconciler = Reconciler {
        nodes,
        daemon_sets: target.store(Selection::all().labels(&critical)),
        pods: pods.index(|pod| pod.spec.iter().filter_map(|spec| spec.node_name.clone()).collect()),
        csi_nodes: target.store(Selection::all()),
        recorder,
        backoff: config.backoff.and_then(GoDuration::to_std).unwrap_or(BACKOFF),
        client,
    };
    Controller::new(NAME, reconciler)
        .workers(super::workers(config.concurrent_syncs))
        .timeout(TIMEOUT)
        .source(appeared)
        .source(writer)
}

/// Why a node keeps its taint.
#[derive(Debug, thiserror::Error)]
pub enum NodeError {
    /// The taint could not be removed.
    #[error("failed to remove taint")]
    RemoveTaint(#[source] kube::Error),
}

/// The state of one node.
#[derive(Default)]
struct State {
    /// `None` if it is gone.
    node: Option<Arc<Node>>,
    /// All DaemonSets with the label.
    daemon_sets: Vec<Arc<DaemonSet>>,
    /// Pods with the label on this node.
    pods: Vec<Arc<Pod>>,
    /// CSI drivers that are registered on it.
    drivers: BTreeSet<String>,
}

#[derive(Debug, PartialEq)]
enum Action {
    /// Something is missing: record an event, and check again later.
    Wait { reason: &'static str, what: &'static str, missing: String },
    /// Nothing is missing: record an event.
    Announce,
    /// Merge patch of the node.
    RemoveTaint(serde_json::Value),
}

struct Reconciler {
    nodes: Store<Node>,
    daemon_sets: Store<DaemonSet>,
    pods: Index<Pod>,
    csi_nodes: Store<CSINode>,
    recorder: Recorder,
    backoff: Duration,
    client: Client,
}

impl Reconcile for Reconciler {
    type Error = NodeError;

    async fn reconcile(&self, request: Request) -> Result<Outcome, NodeError> {
        let state = self.observe(&request);
        let mut outcome = Outcome::Done;
        for action in plan(&state) {
            outcome = self.execute(&state, action).await?;
        }
        Ok(outcome)
    }
}

impl Reconciler {
    fn observe(&self, request: &Request) -> State {
        let csi_node = self.csi_nodes.get("", &request.name);
        let drivers =
            csi_node.iter().flat_map(|node| node.spec.drivers.iter().map(|driver| driver.name.clone()));
        State {
            node: self.nodes.get("", &request.name),
            daemon_sets: self.daemon_sets.list(),
            pods: self.pods.get(&request.name),
            drivers: drivers.collect(),
        }
    }

    /// GRM-NOD-010: a node that is not ready is checked again after the configured time.
    async fn execute(&self, state: &State, action: Action) -> Result<Outcome, NodeError> {
        let Some(node) = state.node.as_deref() else { return Ok(Outcome::Done) };
        match action {
            Action::Wait { reason, what, missing } => {
                tracing::info!(missing, "{what}");
                self.recorder.event(node, EventType::Warning, reason, &format!("{what}: {missing}"));
                tracing::debug!(backoff = ?self.backoff, "Checking node again after backoff");
                return Ok(Outcome::RequeueAfter(self.backoff));
            }
            Action::Announce => {
                let message = "All node-critical components got ready, removing taint";
                tracing::info!("{message}");
                self.recorder.event(node, EventType::Normal, "NodeCriticalComponentsReady", message);
            }
            Action::RemoveTaint(patch) => {
                let nodes: Api<Node> = Api::all(self.client.clone());
                let patch = Patch::Merge(patch);
                let patched = nodes.patch(&node.name_any(), &PatchParams::default(), &patch).await;
                patched.map_err(NodeError::RemoveTaint)?;
            }
        }
        Ok(Outcome::Done)
    }
}

/// GRM-NOD-001, GRM-NOD-002, GRM-NOD-008 and GRM-NOD-009: the first missing item, or the removal of the taint.
fn plan(state: &State) -> Vec<Action> {
    let Some(node) = state.node.as_deref().filter(|node| is_tainted(node)) else { return Vec::new() };
    let missing = unscheduled(node, state).or_else(|| unready(state)).or_else(|| without_driver(state));
    match missing {
        Some(wait) => vec![wait],
        None => vec![Action::Announce, Action::RemoveTaint(untaint(node))],
    }
}

/// GRM-NOD-003, GRM-NOD-004, GRM-NOD-005 and GRM-NOD-012: DaemonSets that should run on the node but have no pod
/// there.
fn unscheduled(node: &Node, state: &State) -> Option<Action> {
    let scheduled: BTreeSet<&str> = state.pods.iter().filter_map(|pod| daemon_set_of(pod)).collect();
    let is_critical = |set: &DaemonSet| {
        let template = set.spec.as_ref().and_then(|spec| spec.template.metadata.as_ref());
        let label = template.and_then(|metadata| metadata.labels.as_ref()?.get(NODE_CRITICAL_COMPONENT));
        label.is_some_and(|value| value == "true")
    };
    let missing = state.daemon_sets.iter().filter(|set| {
        is_critical(set)
            && daemon::should_run(node, set)
            && !scheduled.contains(set.metadata.uid.as_deref().unwrap_or_default())
    });
    let reason = "UnscheduledNodeCriticalDaemonSets";
    wait(reason, "Node-critical DaemonSets found that were not scheduled to Node yet", &names(missing))
}

/// GRM-NOD-006: pods with the label on the node that are not ready.
fn unready(state: &State) -> Option<Action> {
    let is_ready = |pod: &Pod| {
        let conditions = pod.status.iter().flat_map(|status| status.conditions.iter().flatten());
        let ready =
            conditions.filter(|condition| condition.type_ == "Ready").map(|condition| &condition.status);
        ready.into_iter().next().is_some_and(|status| status == "True")
    };
    let missing = state.pods.iter().filter(|pod| !is_ready(pod));
    wait("UnreadyNodeCriticalPods", "Unready node-critical Pods found on Node", &names(missing))
}

/// GRM-NOD-007: CSI drivers that pods on the node need and that are not registered there.
fn without_driver(state: &State) -> Option<Action> {
    let annotations = state.pods.iter().flat_map(|pod| pod.annotations());
    let required: BTreeSet<&String> = annotations
        .filter(|(key, _)| key.starts_with(WAIT_FOR_CSI_NODE_PREFIX))
        .map(|(_, driver)| driver)
        .collect();
    let missing: Vec<&str> =
        required.into_iter().filter(|driver| !state.drivers.contains(*driver)).map(String::as_str).collect();
    let list = if missing.is_empty() { String::new() } else { format!("[{}]", missing.join(" ")) };
    wait("UnreadyRequiredCSIDrivers", "Unready required CSI drivers for Node", &list)
}

fn wait(reason: &'static str, what: &'static str, missing: &str) -> Option<Action> {
    (!missing.is_empty()).then(|| Action::Wait { reason, what, missing: missing.to_owned() })
}

fn names<'a, K: Resource + 'a>(objects: impl Iterator<Item = &'a Arc<K>>) -> String {
    let names =
        objects.map(|object| format!("{}/{}", object.namespace().unwrap_or_default(), object.name_any()));
    names.collect::<Vec<_>>().join(", ")
}

/// The uid of the DaemonSet that controls a pod.
fn daemon_set_of(pod: &Pod) -> Option<&str> {
    let owner = pod.owner_references().iter().find(|owner| owner.controller == Some(true))?;
    (owner.api_version == "apps/v1" && owner.kind == "DaemonSet").then_some(owner.uid.as_str())
}

fn is_tainted(node: &Node) -> bool {
    let taints = node.spec.iter().flat_map(|spec| spec.taints.iter().flatten());
    taints.into_iter().any(|taint| taint.key == TAINT_CRITICAL_COMPONENTS_NOT_READY)
}

/// Patch that keeps all other taints; it fails if the node has changed in the meantime.
fn untaint(node: &Node) -> serde_json::Value {
    let taints = node.spec.iter().flat_map(|spec| spec.taints.iter().flatten());
    let left: Vec<_> = taints.filter(|taint| taint.key != TAINT_CRITICAL_COMPONENTS_NOT_READY).collect();
    let left = (!left.is_empty()).then_some(left);
    json!({"metadata": {"resourceVersion": node.metadata.resource_version}, "spec": {"taints": left}})
}

fn without_status(node: &mut Node) {
    node.status = None;
}

fn without_containers(pod: &mut Pod) {
    if let Some(spec) = &mut pod.spec {
        *spec = k8s_openapi::api::core::v1::PodSpec {
            node_name: spec.node_name.take(),
            ..k8s_openapi::api::core::v1::PodSpec::default()
        };
    }
}

#[cfg(test)]
mod tests;
