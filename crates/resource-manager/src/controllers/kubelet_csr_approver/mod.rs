//! Approves or denies the serving certificates of kubelets
//! (contracts/resource-manager/controllers/kubelet-csr-approver).
//!
//! A denial is final, so nodes and machines are read from the API servers and not from caches, which lag and might
//! miss a node that has just joined.

mod decision;
mod request;

use std::sync::Arc;

use controller::{Controller, Event, Outcome, Reconcile, Request, Selection, Store, Watch};
use formats::name;
use k8s_openapi::api::certificates::v1::{
    CertificateSigningRequest, CertificateSigningRequestCondition, CertificateSigningRequestStatus,
};
use k8s_openapi::api::core::v1::Node;
use kube::Client;
use kube::api::{Api, ApiResource, DynamicObject, GroupVersionKind, ListParams, PostParams};

use self::decision::{Denial, NodeFacts, check, node_name};
use self::request::CertificateSubject;
use super::{Context, TIMEOUT};

/// Name in log and metrics.
pub const NAME: &str = "kubelet-csr-approver";
/// The signer of kubelets' serving certificates.
const SIGNER: &str = "kubernetes.io/kubelet-serving";
/// Label of a Machine: the name of its node.
const NODE: &str = "node";

/// The controller of one instance; GRM-CSR-001, GRM-CSR-013 and GRM-CSR-014: requests for one signer, when they are
/// created or changed.
pub fn controller(context: &Context) -> Controller {
    let selection = Selection::all().fields(format!("spec.signerName={SIGNER}"));
    let requests = context.target.store::<CertificateSigningRequest>(selection);
    let changed = Watch::of(&requests).filter(|event| !matches!(event, Event::Delete(_)));
    let config = &context.config.controllers.kubelet_csr_approver;
    let reconciler = Reconciler {
        requests,
        source: context.source.client(),
        target: context.target.client(),
        machine_namespace: config.machine_namespace.clone(),
    };
    Controller::new(NAME, reconciler)
        .workers(super::workers(config.concurrent_syncs))
        .timeout(TIMEOUT)
        .source(changed)
}

/// Why a request is neither approved nor denied.
#[derive(Debug, thiserror::Error)]
pub enum ApproveError {
    /// It is not a certificate request.
    #[error("unable to parse csr: {0}")]
    Parse(String),
    /// The node could not be looked up.
    #[error("failed when checking for approval conditions: {0}")]
    Node(#[source] kube::Error),
    /// The machines could not be looked up.
    #[error("failed when checking for approval conditions: {0}")]
    Machines(#[source] kube::Error),
    /// The decision could not be written.
    #[error("failed to write approval: {0}")]
    Write(#[source] kube::Error),
}

struct Reconciler {
    requests: Store<CertificateSigningRequest>,
    source: Client,
    target: Client,
    machine_namespace: String,
}

/// An undecided request, and what is known about it.
struct State {
    csr: Arc<CertificateSigningRequest>,
    subject: CertificateSubject,
    /// `None` if the request itself is enough to deny it.
    facts: Option<NodeFacts>,
}

impl Reconcile for Reconciler {
    type Error = ApproveError;

    async fn reconcile(&self, request: Request) -> Result<Outcome, ApproveError> {
        let Some(state) = self.observe(&request).await? else { return Ok(Outcome::Done) };
        let verdict = plan(&self.machine_namespace, &state);
        self.execute(&state.csr, verdict).await
    }
}

impl Reconciler {
    async fn observe(&self, request: &Request) -> Result<Option<State>, ApproveError> {
        let Some(csr) = self.requests.get("", &request.name) else { return Ok(None) };
        if let Some(state) = final_state(&csr) {
            tracing::info!(finalState = state, "Ignoring CSR, as it is in final state");
            return Ok(None);
        }
        let subject = CertificateSubject::read(&csr.spec.request.0)
            .map_err(|error| ApproveError::Parse(error.to_string()))?;
        let user = csr.spec.username.as_deref().unwrap_or_default();
        let facts = match node_name(user, &subject) {
            Ok(name) => Some(self.look_up(name).await?),
            Err(_) => None,
        };
        Ok(Some(State { csr, subject, facts }))
    }

    /// Skips requests for values that are invalid as a node's name or a label's value.
    async fn look_up(&self, node: &str) -> Result<NodeFacts, ApproveError> {
        let mut facts = NodeFacts { node: None, machines: 0 };
        if name::dns1123_subdomain(node).is_empty() {
            let nodes: Api<Node> = Api::all(self.target.clone());
            facts.node = nodes.get_opt(node).await.map_err(ApproveError::Node)?;
        }
        if facts.node.is_some() && name::label_value(node).is_empty() {
            let labelled = ListParams::default().labels(&format!("{NODE}={node}"));
            let machines = self.machines().list_metadata(&labelled).await;
            facts.machines = machines.map_err(ApproveError::Machines)?.items.len();
        }
        Ok(facts)
    }

    /// GRM-CSR-015: the machines of the configured namespace, or of all namespaces.
    fn machines(&self) -> Api<DynamicObject> {
        let kind = GroupVersionKind::gvk("machine.sapcloud.io", "v1alpha1", "Machine");
        let kind = ApiResource::from_gvk_with_plural(&kind, "machines");
        if self.machine_namespace.is_empty() {
            return Api::all_with(self.source.clone(), &kind);
        }
        Api::namespaced_with(self.source.clone(), &self.machine_namespace, &kind)
    }

    async fn execute(
        &self,
        csr: &CertificateSigningRequest,
        decision: Result<(), Denial>,
    ) -> Result<Outcome, ApproveError> {
        match &decision {
            Ok(()) => tracing::info!(reason = PASSED, "Auto-approving CSR"),
            Err(denial) => tracing::info!(reason = %denial, "Denying CSR"),
        }
        let mut decided = csr.clone();
        let status = decided.status.get_or_insert_with(CertificateSigningRequestStatus::default);
        status.conditions.get_or_insert_default().push(condition(decision));
        let name = csr.metadata.name.as_deref().unwrap_or_default();
        let requests: Api<CertificateSigningRequest> = Api::all(self.target.clone());
        let written = requests.replace_subresource("approval", name, &PostParams::default(), &decided).await;
        written.map_err(ApproveError::Write)?;
        Ok(Outcome::Done)
    }
}

/// Message of an approval.
const PASSED: &str = "all checks passed";

/// Decides about a request; an error denies it.
fn plan(machine_namespace: &str, state: &State) -> Result<(), Denial> {
    let user = state.csr.spec.username.as_deref().unwrap_or_default();
    let name = node_name(user, &state.subject)?;
    let Some(facts) = &state.facts else { return Err(Denial::NoNode(name.to_owned())) };
    check(machine_namespace, name, &state.subject, facts)
}

/// GRM-CSR-011: the type of the final condition; `None` if the request is undecided.
fn final_state(csr: &CertificateSigningRequest) -> Option<&str> {
    let status = csr.status.as_ref()?;
    let mut conditions = status.conditions.iter().flatten().map(|condition| condition.type_.as_str());
    let decision = conditions.rfind(|kind| ["Approved", "Denied"].contains(kind));
    let signed = status.certificate.as_ref().is_some_and(|certificate| !certificate.0.is_empty());
    decision.or(signed.then_some(""))
}

fn condition(decision: Result<(), Denial>) -> CertificateSigningRequestCondition {
    let (kind, reason, message) = match decision {
        Ok(()) => {
            ("Approved", "RequestApproved", format!("Approving kubelet server certificate CSR ({PASSED})"))
        }
        Err(denial) => {
            ("Denied", "RequestDenied", format!("Denying kubelet server certificate CSR ({denial})"))
        }
    };
    CertificateSigningRequestCondition {
        type_: kind.to_owned(),
        status: "True".to_owned(),
        reason: Some(reason.to_owned()),
        message: Some(message),
        ..CertificateSigningRequestCondition::default()
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;

    #[rstest]
    #[case::no_status(Value::Null, None)]
    #[case::failed(json!({"conditions": [{"type": "Failed", "status": "True"}]}), None)]
    #[case::approved(json!({"conditions": [{"type": "Approved", "status": "True"}]}), Some("Approved"))]
    #[case::denied(json!({"conditions": [{"type": "Failed", "status": "True"}, {"type": "Denied", "status": "True"}]}), Some("Denied"))]
    #[case::signed(json!({"certificate": "AAAA"}), Some(""))]
    #[case::not_signed(json!({"certificate": ""}), None)]
    fn a_decision_is_final(#[case] status: Value, #[case] want: Option<&str>) {
        let spec = json!({"request": "", "signerName": SIGNER, "usages": []});
        let csr = serde_json::from_value(json!({"metadata": {}, "spec": spec, "status": status})).unwrap();
        assert_eq!(final_state(&csr), want);
    }

    #[test]
    fn a_request_that_is_invalid_in_itself_is_denied_without_lookup() {
        let spec = json!({"request": "", "signerName": SIGNER, "usages": [], "username": "bob"});
        let csr = Arc::new(serde_json::from_value(json!({"metadata": {}, "spec": spec})).unwrap());
        let state = State { csr, subject: CertificateSubject::default(), facts: None };
        assert_eq!(plan("shoot", &state), Err(Denial::User("bob".to_owned())));
    }
}
