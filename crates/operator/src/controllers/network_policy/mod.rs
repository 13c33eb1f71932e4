//! Creates NetworkPolicies in namespaces of Gardener's components (contracts/operator/controllers/network-policy).
//!
//! All traffic is denied; Pods with labels get access to DNS, to API servers and to networks. The controller waits until
//! [`network_policy_registrar`](super::network_policy_registrar) has told it the networks of the runtime cluster.

mod egress;
mod facts;
mod policy;
mod resolver;
mod sources;

use std::sync::Arc;

use api::extensions::Cluster;
use api::gardener::DESCRIPTION;
use api::operator::runtime_cluster::RuntimeNetworking;
use controller::reconcile::merge_patch;
use controller::{Controller, Outcome, Reconcile, Request, Selection, Store};
use formats::selector::LabelSelector;
use k8s_openapi::api::core::v1::{EndpointSubset, Endpoints, Namespace};
use k8s_openapi::api::networking::v1::NetworkPolicy;
use kube::api::{Api, DeleteParams, Patch, PatchParams, PostParams};
use kube::{Client, ResourceExt as _};
use serde_json::Value;
use tokio::sync::watch;

use self::facts::Facts;
use self::policy::Policy;
pub use self::resolver::ApiServerHost;
use self::resolver::Resolver;
use self::sources::NetworkChanges;
use super::{OperatorContext, TIMEOUT};

/// Name in log and metrics; the original's spelling.
pub const NAME: &str = "networkpolicy";

/// Why the policies of a namespace could not be reconciled.
#[derive(Debug, thiserror::Error)]
pub enum NetworkPolicyError {
    /// What some policies depend on is missing or not valid; the others are written.
    #[error("{0}")]
    Unknown(String),
    /// A policy could not be written.
    #[error("failed to reconcile NetworkPolicy {0}")]
    Write(String, #[source] kube::Error),
    /// A policy could not be deleted.
    #[error("failed to delete NetworkPolicy {0}")]
    Delete(String, #[source] kube::Error),
}

/// The controller of one instance. OPR-NPC-001 to -012.
pub fn controller(context: &OperatorContext) -> Controller {
    let (runtime, config) = (&context.runtime, &context.config.controllers.network_policy);
    let namespaces = runtime.store::<Namespace>(Selection::all());
    let policies = runtime.store::<NetworkPolicy>(Selection::all());
    let endpoints = Selection::all().namespaces(["default"]).fields("metadata.name=kubernetes");
    let endpoints = runtime.store::<Endpoints>(endpoints);
    let clusters =
        runtime.store::<Cluster>(Selection::all().reduced("networking", to_networking).may_be_absent());
    let resolved = watch::Sender::new(Vec::new());
    let networks = NetworkChanges { networks: context.networks.subscribe(), namespaces: namespaces.clone() };
    let lookup = context.api_server.clone().map(|host| Resolver {
        host,
        resolved: resolved.clone(),
        namespaces: namespaces.clone(),
    });
    let reconciler = Reconciler {
        namespaces: namespaces.clone(),
        policies: policies.clone(),
        endpoints: endpoints.clone(),
        clusters: clusters.clone(),
        networks: context.networks.subscribe(),
        resolved: resolved.subscribe(),
        additional: config.additional_namespace_selectors.clone(),
        client: runtime.client(),
    };
    let controller = Controller::new(NAME, reconciler)
        .workers(super::workers(config.concurrent_syncs))
        .timeout(TIMEOUT)
        .source(sources::namespaces(&namespaces))
        .source(sources::endpoints(&endpoints, &namespaces))
        .source(sources::policies(&policies))
        .source(sources::clusters(&clusters))
        .source(networks);
    match lookup {
        Some(lookup) => controller.source(lookup),
        None => controller,
    }
}

/// Of a Shoot only its networks are read.
fn to_networking(cluster: &mut Cluster) {
    let networking = |shoot: &Value| serde_json::json!({"spec": {"networking": shoot["spec"]["networking"]}});
    cluster.spec.shoot = cluster.spec.shoot.as_ref().map(networking);
    cluster.spec.unknown = api::garden::Unknown::default();
}

struct Reconciler {
    namespaces: Store<Namespace>,
    policies: Store<NetworkPolicy>,
    endpoints: Store<Endpoints>,
    clusters: Store<Cluster>,
    networks: watch::Receiver<Option<RuntimeNetworking>>,
    resolved: watch::Receiver<Vec<EndpointSubset>>,
    additional: Vec<LabelSelector>,
    client: Client,
}

/// A namespace that is in use, with what its policies depend on.
#[derive(Clone, Debug)]
struct State {
    namespace: Arc<Namespace>,
    networks: RuntimeNetworking,
    endpoints: Option<Arc<Endpoints>>,
    resolved: Vec<EndpointSubset>,
    cluster: Option<Arc<Cluster>>,
    /// The policies of the namespace.
    live: Vec<Arc<NetworkPolicy>>,
}

/// What to do with the policies of a namespace.
#[derive(Debug, PartialEq)]
enum Action {
    Create(Box<NetworkPolicy>),
    /// Merge patch.
    Patch(&'static str, Value),
    Delete(&'static str),
    /// Report why some policies are not known.
    Refuse(String),
}

impl Reconcile for Reconciler {
    type Error = NetworkPolicyError;

    async fn reconcile(&self, request: Request) -> Result<Outcome, NetworkPolicyError> {
        let Some(state) = self.observe(&request) else { return Ok(Outcome::Done) };
        for action in plan(&self.additional, &state) {
            self.execute(&request.name, action).await?;
        }
        Ok(Outcome::Done)
    }
}

impl Reconciler {
    /// OPR-NPC-009, OPR-NPR-001: nothing if a namespace is gone or about to go, nor before the networks are known.
    fn observe(&self, request: &Request) -> Option<State> {
        let networks = self.networks.borrow().clone()?;
        let namespace = self.namespaces.get("", &request.name).filter(|namespace| is_active(namespace))?;
        Some(State {
            namespace,
            networks,
            endpoints: self.endpoints.get("default", "kubernetes"),
            resolved: self.resolved.borrow().clone(),
            cluster: self.clusters.get("", &request.name),
            live: self.policies.list_in(&request.name),
        })
    }

    async fn execute(&self, namespace: &str, action: Action) -> Result<(), NetworkPolicyError> {
        let policies: Api<NetworkPolicy> = Api::namespaced(self.client.clone(), namespace);
        let key = |name: &str| format!("{namespace}/{name}");
        match action {
            Action::Create(policy) => {
                let written = policies.create(&PostParams::default(), &policy).await;
                self.wait_until_shows(written, key(&policy.name_any())).await
            }
            Action::Patch(name, patch) => {
                let written = policies.patch(name, &PatchParams::default(), &Patch::Merge(patch)).await;
                self.wait_until_shows(written, key(name)).await
            }
            Action::Delete(name) => {
                tracing::info!(networkPolicy = key(name), "Deleting NetworkPolicy");
                match policies.delete(name, &DeleteParams::default()).await {
                    Err(kube::Error::Api(status)) if status.is_not_found() => Ok(()),
                    deleted => {
                        deleted.map(drop).map_err(|error| NetworkPolicyError::Delete(key(name), error))
                    }
                }
            }
            Action::Refuse(reason) => Err(NetworkPolicyError::Unknown(reason)),
        }
    }

    /// Waits until the store shows a policy, so that it is not written once more.
    async fn wait_until_shows(
        &self,
        written: Result<NetworkPolicy, kube::Error>,
        key: String,
    ) -> Result<(), NetworkPolicyError> {
        self.policies
            .wait_until_shows(&written.map_err(|error| NetworkPolicyError::Write(key, error))?)
            .await;
        Ok(())
    }
}

fn is_active(namespace: &Namespace) -> bool {
    let phase = namespace.status.as_ref().and_then(|status| status.phase.as_deref());
    namespace.metadata.deletion_timestamp.is_none() && phase == Some("Active")
}

/// The actions that lead to the desired policies, one after the other; a policy that is not known stays as it is.
fn plan(additional: &[LabelSelector], state: &State) -> Vec<Action> {
    let namespace = state.namespace.name_any();
    let facts = Facts {
        namespace: &namespace,
        networks: &state.networks,
        endpoints: state.endpoints.as_deref(),
        resolved: &state.resolved,
        cluster: state.cluster.as_deref(),
    };
    let (mut actions, mut reasons) = (Vec::new(), Vec::new());
    for policy in Policy::ALL {
        let name = policy.name();
        let live = state.live.iter().find(|live| live.name_any() == name);
        if !policy.is_for(state.namespace.labels(), additional) {
            actions.extend(live.filter(|live| is_made(live)).map(|_| Action::Delete(name)));
            continue;
        }
        match (policy.build(&facts), live) {
            (Ok(wanted), None) => actions.push(Action::Create(Box::new(wanted))),
            (Ok(wanted), Some(live)) => {
                actions
                    .extend(merge_patch::between(&**live, &wanted).map(|patch| Action::Patch(name, patch)));
            }
            (Err(error), _) => {
                reasons.push(format!("failed to reconcile NetworkPolicy {namespace}/{name}: {error}"));
            }
        }
    }
    if !reasons.is_empty() {
        actions.push(Action::Refuse(reasons.join("; ")));
    }
    actions
}

/// OPR-NPC-010: whether Gardener made a policy, all of whose policies are described.
fn is_made(policy: &NetworkPolicy) -> bool {
    policy.annotations().contains_key(DESCRIPTION)
}

#[cfg(test)]
mod tests;
