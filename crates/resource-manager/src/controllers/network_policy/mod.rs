//! Creates NetworkPolicies for Services (contracts/resource-manager/controllers/network-policy.yaml).
//!
//! A policy on each side of a connection gives Pods access to the Pods of a Service: Pods with a label, those of the
//! ingress controller, or everyone.

mod annotations;
mod desired;
mod policy;
mod sources;

use std::collections::BTreeSet;
use std::sync::Arc;

use api::networking::{SERVICE_NAME, SERVICE_NAMESPACE};
use controller::reconcile::merge_patch;
use controller::{Controller, Index, Outcome, Reconcile, Request, Selection, Store};
use futures::future::join_all;
use k8s_openapi::api::core::v1::{Namespace, Service};
use k8s_openapi::api::networking::v1::{Ingress, NetworkPolicy};
use kube::api::{Api, DeleteParams, Patch, PatchParams, PostParams};
use kube::core::PartialObjectMeta;
use kube::{Client, ResourceExt as _};
use serde_json::Value;

use self::annotations::AnnotationError;
use super::failures::Failures;
use super::{Context, TIMEOUT};
use crate::config::NetworkPolicyConfig;

/// Name in log and metrics; the original's spelling.
pub const NAME: &str = "networkpolicy";

type NamespaceMetadata = PartialObjectMeta<Namespace>;

/// The controller of one instance.
pub fn controller(context: &Context) -> Controller {
    let (target, config) = (&context.target, context.config.controllers.network_policy.clone());
    let policies = target.store::<NetworkPolicy>(Selection::all());
    let services = target.store::<Service>(Selection::all().reduced("spec", without_status));
    let namespaces = target.store::<NamespaceMetadata>(Selection::all());
    let ingresses =
        config.ingress_controller_selector.as_ref().map(|_| target.store::<Ingress>(Selection::all()));
    let workers = super::workers(config.concurrent_syncs);
    let reconciler = Reconciler {
        of_service: policies
            .index(|policy| sources::service_of(policy).map(|of| of.to_string()).into_iter().collect()),
        policies: policies.clone(),
        services: services.clone(),
        namespaces: namespaces.clone(),
        ingresses: ingresses.clone(),
        config,
        client: target.client(),
    };
    let controller = Controller::new(NAME, reconciler)
        .workers(workers)
        .timeout(TIMEOUT)
        .source(sources::services(&services))
        .source(sources::policies(&policies))
        .source(sources::namespaces(&namespaces, &services));
    match ingresses {
        Some(ingresses) => controller.source(sources::ingresses(&ingresses)),
        None => controller,
    }
}

/// Why the policies of a Service could not be reconciled.
#[derive(Debug, thiserror::Error)]
pub enum NetworkPolicyError {
    /// An annotation is invalid; no policy is deleted because of it.
    #[error(transparent)]
    Annotation(#[from] AnnotationError),
    /// Some policies could not be written; the others were.
    #[error(transparent)]
    Write(#[from] Failures),
}

/// The state of one Service.
#[derive(Clone, Debug, Default)]
struct State {
    /// `None` if it is gone.
    service: Option<Arc<Service>>,
    /// Whether the configuration selects its namespace.
    is_handled: bool,
    /// Policies whose labels name the Service.
    own: Vec<Arc<NetworkPolicy>>,
    namespaces: Vec<Arc<NamespaceMetadata>>,
    /// The Ingresses of its namespace; empty without an ingress controller.
    ingresses: Vec<Arc<Ingress>>,
}

#[derive(Debug, PartialEq)]
enum Action {
    Create(Box<NetworkPolicy>),
    /// Merge patch.
    Patch {
        namespace: String,
        name: String,
        patch: Value,
    },
    Delete {
        namespace: String,
        name: String,
    },
}

struct Reconciler {
    policies: Store<NetworkPolicy>,
    of_service: Index<NetworkPolicy>,
    services: Store<Service>,
    namespaces: Store<NamespaceMetadata>,
    ingresses: Option<Store<Ingress>>,
    config: NetworkPolicyConfig,
    client: Client,
}

impl Reconcile for Reconciler {
    type Error = NetworkPolicyError;

    async fn reconcile(&self, request: Request) -> Result<Outcome, NetworkPolicyError> {
        let state = self.observe(&request);
        let actions = plan(&self.config, &state, &|namespace, name| self.policies.get(namespace, name))?;
        self.execute(actions).await?;
        Ok(Outcome::Done)
    }
}

impl Reconciler {
    fn observe(&self, request: &Request) -> State {
        let selectors = &self.config.namespace_selectors;
        let namespace = self.namespaces.get("", &request.namespace);
        let labels = namespace.map(|namespace| namespace.labels().clone()).unwrap_or_default();
        State {
            service: self.services.get(&request.namespace, &request.name),
            is_handled: selectors.is_empty() || selectors.iter().any(|selector| selector.matches(&labels)),
            own: self.of_service.get(&request.to_string()),
            namespaces: self.namespaces.list(),
            ingresses: self.ingresses.iter().flat_map(|store| store.list_in(&request.namespace)).collect(),
        }
    }

    /// Executes all actions concurrently.
    async fn execute(&self, actions: Vec<Action>) -> Result<(), Failures> {
        Failures::among(join_all(actions.iter().map(|action| self.execute_one(action))).await)
    }

    async fn execute_one(&self, action: &Action) -> Result<(), kube::Error> {
        let api = |namespace: &str| -> Api<NetworkPolicy> { Api::namespaced(self.client.clone(), namespace) };
        match action {
            Action::Create(policy) => {
                let namespace = policy.namespace().unwrap_or_default();
                api(&namespace).create(&PostParams::default(), policy).await.map(drop)
            }
            Action::Patch { namespace, name, patch } => {
                let patch = Patch::Merge(patch);
                api(namespace).patch(name, &PatchParams::default(), &patch).await.map(drop)
            }
            Action::Delete { namespace, name } => {
                match api(namespace).delete(name, &DeleteParams::default()).await {
                    Err(kube::Error::Api(status)) if status.is_not_found() => Ok(()),
                    deleted => deleted.map(drop),
                }
            }
        }
    }
}

/// GRM-NPC-001, GRM-NPC-002, GRM-NPC-021 and GRM-NPC-023: the actions that lead to the desired policies; `live` returns the policy
/// with a name.
fn plan(
    config: &NetworkPolicyConfig,
    state: &State,
    live: &dyn Fn(&str, &str) -> Option<Arc<NetworkPolicy>>,
) -> Result<Vec<Action>, AnnotationError> {
    let wanted = match exposed(state) {
        Some(service) => desired::policies(config, service, state)?,
        None => Vec::new(),
    };
    let key = |policy: &NetworkPolicy| (policy.namespace().unwrap_or_default(), policy.name_any());
    let names: BTreeSet<_> = wanted.iter().map(key).collect();
    let unwanted = state.own.iter().map(|policy| key(policy)).filter(|key| !names.contains(key));
    let deletions: Vec<_> = unwanted.map(|(namespace, name)| Action::Delete { namespace, name }).collect();
    let writes = wanted.into_iter().filter_map(|policy| {
        let (namespace, name) = key(&policy);
        match live(&namespace, &name) {
            None => Some(Action::Create(Box::new(policy))),
            Some(live) => {
                merge_patch::between(&*live, &policy).map(|patch| Action::Patch { namespace, name, patch })
            }
        }
    });
    Ok(writes.chain(deletions).collect())
}

/// GRM-NPC-003, GRM-NPC-004 and GRM-NPC-009: the Service, if it has Pods that others may access.
fn exposed(state: &State) -> Option<&Service> {
    let service = state.service.as_deref().filter(|_| state.is_handled)?;
    let selector = service.spec.as_ref().and_then(|spec| spec.selector.as_ref());
    let selects = selector.is_some_and(|selector| !selector.is_empty());
    (selects && service.metadata.deletion_timestamp.is_none()).then_some(service)
}

/// Labels of a policy that name its Service.
fn labels_of(service: &Service) -> [(String, String); 2] {
    let own = |key: &str, value: Option<String>| (key.to_owned(), value.unwrap_or_default());
    [own(SERVICE_NAME, Some(service.name_any())), own(SERVICE_NAMESPACE, service.namespace())]
}

fn without_status(service: &mut Service) {
    service.status = None;
}

#[cfg(test)]
mod tests;
