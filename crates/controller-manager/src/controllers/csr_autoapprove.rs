//! Approves the client certificates of gardenlets whose users may have them
//! (contracts/controller-manager/controllers/csr-autoapprove.yaml).

use std::sync::Arc;

use controller::{Controller, Event, Outcome, Reconcile, Request, Selection, Store, Watch};
use formats::x509::CertificateRequest;
use k8s_openapi::api::authorization::v1::{
    ResourceAttributes, SubjectAccessReview, SubjectAccessReviewSpec, SubjectAccessReviewStatus,
};
use k8s_openapi::api::certificates::v1::{
    CertificateSigningRequest, CertificateSigningRequestCondition, CertificateSigningRequestStatus,
};
use kube::Client;
use kube::api::{Api, PostParams};

use super::{Context, TIMEOUT};

/// Name in log and metrics.
pub const NAME: &str = "csr-autoapprove";
/// The group of all gardenlets, the one organization of their certificates.
const ORGANIZATION: &str = "gardener.cloud:system:seeds";
/// Prefix of the user names of gardenlets, which are the common names of their certificates.
const USER_PREFIX: &str = "gardener.cloud:system:seed:";
/// The usages of their certificates, in any order.
const USAGES: [&str; 3] = ["key encipherment", "digital signature", "client auth"];

/// The controller of one instance: requests of all signers, when they are created or changed.
pub fn controller(context: &Context) -> Controller {
    let garden = &context.garden;
    let requests = garden.store::<CertificateSigningRequest>(Selection::all());
    let changed = Watch::of(&requests).filter(|event| !matches!(event, Event::Delete(_)));
    let config = &context.config.controllers.certificate_signing_request;
    Controller::new(NAME, Reconciler { requests, client: garden.client() })
        .workers(super::workers(config.concurrent_syncs))
        .timeout(TIMEOUT)
        .source(changed)
}

/// Why a request is not approved.
#[derive(Debug, thiserror::Error)]
pub enum ApproveError {
    /// It is not a certificate request.
    #[error("unable to parse csr: {0}")]
    Parse(String),
    /// The user's permission could not be reviewed.
    #[error("failed to review the permission of the user")]
    Review(#[source] kube::Error),
    /// The user has no permission; the text is the authorizer's reason.
    #[error("recognized CSR but SubjectAccessReview was not allowed: {0}")]
    NotAllowed(String),
    /// The approval could not be written.
    #[error("failed to write approval: {0}")]
    Write(#[source] kube::Error),
}

/// Why a request is not that of a gardenlet; the texts are the original's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
enum Mismatch {
    #[error("subject's organization is not set to [{ORGANIZATION}]")]
    Organization,
    #[error("DNSNames, EmailAddresses and IPAddresses fields must be empty")]
    Names,
    #[error("key usages are not set to [{}]", USAGES.join(" "))]
    Usages,
    #[error("CommonName does not start with {USER_PREFIX:?}")]
    CommonName,
}

struct Reconciler {
    requests: Store<CertificateSigningRequest>,
    client: Client,
}

/// An undecided request of a gardenlet, and whether its user may have the certificate.
struct State {
    csr: Arc<CertificateSigningRequest>,
    review: SubjectAccessReviewStatus,
}

/// What to do with a request.
#[derive(Debug, PartialEq, Eq)]
enum Action {
    Approve,
    /// Report the authorizer's reason; a retry reviews the permission again.
    Refuse(String),
}

impl Reconcile for Reconciler {
    type Error = ApproveError;

    /// GCM-ACS-001.
    async fn reconcile(&self, request: Request) -> Result<Outcome, ApproveError> {
        let Some(state) = self.observe(&request).await? else { return Ok(Outcome::Done) };
        self.execute(&state.csr, plan(&state.review)).await
    }
}

impl Reconciler {
    async fn observe(&self, request: &Request) -> Result<Option<State>, ApproveError> {
        let Some(csr) = self.requests.get("", &request.name) else { return Ok(None) };
        if let Some(state) = final_state(&csr) {
            tracing::info!(finalState = state, "Ignoring CSR, as it is in final state");
            return Ok(None);
        }
        let content = CertificateRequest::from_pem(&csr.spec.request.0);
        let content = content.map_err(|error| ApproveError::Parse(error.to_string()))?;
        if let Err(reason) = check(&content, csr.spec.usages.as_deref().unwrap_or_default()) {
            tracing::info!(%reason, "Ignoring CSR, as it does not match the requirements for a seed client");
            return Ok(None);
        }
        let review = self.review(&csr).await?;
        Ok(Some(State { csr, review }))
    }

    async fn review(
        &self,
        csr: &CertificateSigningRequest,
    ) -> Result<SubjectAccessReviewStatus, ApproveError> {
        let reviews: Api<SubjectAccessReview> = Api::all(self.client.clone());
        let reviewed = reviews.create(&PostParams::default(), &question(csr)).await;
        Ok(reviewed.map_err(ApproveError::Review)?.status.unwrap_or_default())
    }

    async fn execute(
        &self,
        csr: &CertificateSigningRequest,
        action: Action,
    ) -> Result<Outcome, ApproveError> {
        match action {
            Action::Refuse(reason) => Err(ApproveError::NotAllowed(reason)),
            Action::Approve => {
                tracing::info!("Auto-approving CSR");
                let name = csr.metadata.name.as_deref().unwrap_or_default();
                let requests: Api<CertificateSigningRequest> = Api::all(self.client.clone());
                let approved = approved(csr.clone());
                let written =
                    requests.replace_subresource("approval", name, &PostParams::default(), &approved).await;
                written.map(|_| Outcome::Done).map_err(ApproveError::Write)
            }
        }
    }
}

/// GCM-ACS-003: whether the user of a request may create the subresource `seedclient` of requests.
fn question(csr: &CertificateSigningRequest) -> SubjectAccessReview {
    let attributes = ResourceAttributes {
        group: Some("certificates.k8s.io".to_owned()),
        resource: Some("certificatesigningrequests".to_owned()),
        subresource: Some("seedclient".to_owned()),
        verb: Some("create".to_owned()),
        ..ResourceAttributes::default()
    };
    let spec = SubjectAccessReviewSpec {
        user: csr.spec.username.clone(),
        uid: csr.spec.uid.clone(),
        groups: csr.spec.groups.clone(),
        extra: csr.spec.extra.clone(),
        resource_attributes: Some(attributes),
        ..SubjectAccessReviewSpec::default()
    };
    SubjectAccessReview { spec, ..SubjectAccessReview::default() }
}

fn plan(review: &SubjectAccessReviewStatus) -> Action {
    if review.allowed {
        return Action::Approve;
    }
    Action::Refuse(review.reason.clone().unwrap_or_default())
}

/// GCM-ACS-002: the type of the final condition; `None` if the request is undecided.
fn final_state(csr: &CertificateSigningRequest) -> Option<&str> {
    let status = csr.status.as_ref()?;
    let mut conditions = status.conditions.iter().flatten().map(|condition| condition.type_.as_str());
    let decision = conditions.rfind(|kind| ["Approved", "Denied"].contains(kind));
    let signed = status.certificate.as_ref().is_some_and(|certificate| !certificate.0.is_empty());
    decision.or(signed.then_some(""))
}

/// GCM-ACS-004: checks that the certificate would be that of a gardenlet. The signer does not matter.
fn check(request: &CertificateRequest, usages: &[String]) -> Result<(), Mismatch> {
    if request.subject.organizations != [ORGANIZATION] {
        return Err(Mismatch::Organization);
    }
    let names = &request.names;
    if !names.dns.is_empty() || !names.email.is_empty() || !names.ip.is_empty() {
        return Err(Mismatch::Names);
    }
    let has = |usage: &&str| usages.iter().any(|found| found == usage);
    if usages.len() != USAGES.len() || !USAGES.iter().all(has) {
        return Err(Mismatch::Usages);
    }
    if !request.subject.common_name.starts_with(USER_PREFIX) {
        return Err(Mismatch::CommonName);
    }
    Ok(())
}

fn approved(mut csr: CertificateSigningRequest) -> CertificateSigningRequest {
    let status = csr.status.get_or_insert_with(CertificateSigningRequestStatus::default);
    let message = "Auto approving gardenlet client certificate after SubjectAccessReview.";
    status.conditions.get_or_insert_default().push(CertificateSigningRequestCondition {
        type_: "Approved".to_owned(),
        status: "True".to_owned(),
        reason: Some("AutoApproved".to_owned()),
        message: Some(message.to_owned()),
        ..CertificateSigningRequestCondition::default()
    });
    csr
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_question_is_about_everything_that_is_known_of_the_user() {
        let user = json!({"username": "ada", "uid": "1-2", "groups": ["a", "b"], "extra": {"scopes": ["x"]}});
        let mut spec = json!({"request": "", "signerName": "example.com/signer"});
        spec.as_object_mut().unwrap().extend(user.as_object().unwrap().clone());
        let csr = serde_json::from_value(json!({"metadata": {}, "spec": spec})).unwrap();
        let asked = json!({
            "user": "ada", "uid": "1-2", "groups": ["a", "b"], "extra": {"scopes": ["x"]},
            "resourceAttributes": {
                "group": "certificates.k8s.io", "resource": "certificatesigningrequests",
                "subresource": "seedclient", "verb": "create",
            },
        });
        assert_eq!(serde_json::to_value(question(&csr).spec).unwrap(), asked);
    }

    #[test]
    fn a_user_without_permission_gets_the_reason_of_the_authorizer() {
        let review = |allowed, reason: &str| SubjectAccessReviewStatus {
            allowed,
            reason: Some(reason.to_owned()),
            ..SubjectAccessReviewStatus::default()
        };
        assert_eq!(plan(&review(true, "RBAC: allowed")), Action::Approve);
        assert_eq!(plan(&review(false, "no role")), Action::Refuse("no role".to_owned()));
        let text = "recognized CSR but SubjectAccessReview was not allowed: no role";
        assert_eq!(ApproveError::NotAllowed("no role".to_owned()).to_string(), text);
    }
}
