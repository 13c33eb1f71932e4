//! The admission webhooks: each reads the facts that its function needs, calls it, and answers.

use std::sync::Arc;

use async_trait::async_trait;
use controller::clock::Clock;
use k8s_openapi::api::core::v1::Secret;
use tokio::time::{Duration, timeout};
use webhook::answer::Answer;
use webhook::rejection::Rejection;
use webhook::review::{AdmissionRequest, Operation};
use webhook::service::Webhook;

use crate::caller::Caller;
use crate::config::ResourceAdmissionConfiguration;
use crate::garden::GardenCaches;
use crate::measurements::Measurements;
use crate::seed_identity::identify;
use crate::webhooks::audit_policy::{self, ShootCheck};
use crate::webhooks::internal_domain::{self, Domain, DomainFacts, Needed, Refusal};
use crate::webhooks::namespace_deletion::{self, DeletionDecision, PROJECT_LABEL, ProjectNamespace};
use crate::webhooks::resource_size::{self, Verdict};
use crate::webhooks::{Objects, admission_plugin_secret, kubeconfig_secret, seed_restriction};

/// How long reads from the API server may take.
const READS: Duration = Duration::from_secs(10);

pub(super) struct AuditPolicies(pub(super) GardenCaches);
pub(super) struct InternalDomains(pub(super) GardenCaches);
pub(super) struct KubeconfigSecrets(pub(super) Arc<Measurements>);
pub(super) struct AdmissionPluginSecrets(pub(super) GardenCaches);
pub(super) struct NamespaceDeletions(pub(super) GardenCaches);

/// Judges one request, that of this caller.
pub(super) struct ResourceSizes {
    pub(super) config: Arc<ResourceAdmissionConfiguration>,
    pub(super) measurements: Arc<Measurements>,
    pub(super) caller: Caller,
}

/// Judges one request, that of this caller.
pub(super) struct SeedRestrictions {
    pub(super) garden: GardenCaches,
    pub(super) clock: Clock,
    pub(super) caller: Caller,
}

/// What a webhook has nothing against is allowed without a message. ADM-ANS-002.
fn answer(result: Result<(), Rejection>) -> Answer {
    result.map_or_else(Answer::from, |()| Answer::allowed(""))
}

#[async_trait]
impl Webhook for AuditPolicies {
    async fn answer(&self, request: &AdmissionRequest<'_>) -> Answer {
        let decided = match (request.kind.group.as_str(), request.kind.kind.as_str()) {
            (api::garden::GROUP, "Shoot") => self.shoot(request).await,
            ("", "ConfigMap") => {
                self.0.shoots.wait_until_synced().await;
                audit_policy::validate_config_map(request, || self.0.shoots.list_in(&request.namespace))
            }
            _ => Ok(audit_policy::OTHER),
        };
        decided.map_or_else(Answer::from, Answer::allowed)
    }
}

impl AuditPolicies {
    async fn shoot(&self, request: &AdmissionRequest<'_>) -> Result<&'static str, Rejection> {
        let (namespace, name) = match audit_policy::check_shoot(request)? {
            ShootCheck::Allowed(message) => return Ok(message),
            ShootCheck::Policy { namespace, name } => (namespace, name),
        };
        let config_map =
            self.0.config_map(&namespace, &name).await.map_err(|error| {
                Rejection::errored(500, format!("could not retrieve config map: {error}"))
            })?;
        audit_policy::validate_shoot(&namespace, &name, config_map.as_ref())
    }
}

#[async_trait]
impl Webhook for InternalDomains {
    async fn answer(&self, request: &AdmissionRequest<'_>) -> Answer {
        let judged = async {
            let objects = Objects::<Secret>::read(request)?;
            let Some(domain) = Domain::of(namespace_of(&objects)) else { return Ok(()) };
            let mut facts = DomainFacts::default();
            loop {
                match internal_domain::validate(&objects, &facts) {
                    Ok(()) => return Ok(()),
                    Err(Refusal::Rejected(rejection)) => return Err(rejection),
                    Err(Refusal::Needs(Needed::Secret)) => {
                        facts.has_secret = Some(in_time(self.0.has_internal_domain(&domain.namespace)).await);
                    }
                    Err(Refusal::Needs(Needed::Shoots)) => {
                        let shoots = self.0.has_shoots_on(domain.seed.as_deref());
                        facts.has_shoots = Some(in_time(shoots).await);
                    }
                }
            }
        };
        answer(judged.await)
    }
}

/// The namespace of the Secret under review; a connection has none.
fn namespace_of(objects: &Objects<Secret>) -> &str {
    match objects {
        Objects::Create(secret) | Objects::Update { new: secret, .. } | Objects::Delete(secret) => {
            secret.metadata.namespace.as_deref().unwrap_or_default()
        }
        Objects::Connect => "",
    }
}

#[async_trait]
impl Webhook for KubeconfigSecrets {
    async fn answer(&self, request: &AdmissionRequest<'_>) -> Answer {
        let judged = Objects::<Secret>::read(request).and_then(|objects| match objects {
            Objects::Create(secret) | Objects::Update { new: secret, .. } => {
                kubeconfig_secret::validate(&secret).inspect_err(|rejection| self.count(request, rejection))
            }
            Objects::Delete(_) | Objects::Connect => Ok(()),
        });
        answer(judged)
    }
}

impl KubeconfigSecrets {
    /// A kubeconfig that cannot be read is not counted.
    fn count(&self, request: &AdmissionRequest<'_>, rejection: &Rejection) {
        if rejection.code != 422 {
            return;
        }
        tracing::info!(namespace = request.namespace, name = request.name, "Rejected secret");
        let operation = request.operation.to_string();
        let reason = kubeconfig_secret::REASON;
        self.0.rejected(&operation, &request.kind.kind, &request.namespace, reason);
    }
}

#[async_trait]
impl Webhook for AdmissionPluginSecrets {
    async fn answer(&self, request: &AdmissionRequest<'_>) -> Answer {
        match Objects::<Secret>::read(request) {
            Err(rejection) => rejection.into(),
            Ok(Objects::Update { new, .. }) if !admission_plugin_secret::has_kubeconfig(&new) => {
                self.0.shoots.wait_until_synced().await;
                let shoots = self.0.shoots.list_in(&request.namespace);
                answer(admission_plugin_secret::validate(&request.name, &shoots))
            }
            Ok(_) => Answer::allowed(""),
        }
    }
}

#[async_trait]
impl Webhook for NamespaceDeletions {
    async fn answer(&self, request: &AdmissionRequest<'_>) -> Answer {
        if let Err(rejection) = Objects::<k8s_openapi::api::core::v1::Namespace>::read(request) {
            return rejection.into();
        }
        if request.operation != Operation::Delete {
            return Answer::allowed("");
        }
        answer(self.judge(request).await.inspect_err(|rejection| {
            tracing::info!(
                namespace = request.name,
                reason = rejection.message,
                "Rejected namespace deletion"
            );
        }))
    }
}

impl NamespaceDeletions {
    async fn judge(&self, request: &AdmissionRequest<'_>) -> Result<(), Rejection> {
        self.0.namespaces.wait_until_synced().await;
        self.0.projects.wait_until_synced().await;
        let Some(found) = self.project_namespace(&request.name) else { return Ok(()) };
        match found.decide() {
            DeletionDecision::Allowed => Ok(()),
            DeletionDecision::UnlessShoots => {
                let shoots = in_time(self.0.has_shoots_in(&request.name)).await;
                namespace_deletion::validate(&request.name, shoots)
            }
            DeletionDecision::Refused => Err(namespace_deletion::refused(&request.name, &found.project)),
        }
    }

    /// The Namespace, if it is there and belongs to a Project that is there.
    fn project_namespace(&self, name: &str) -> Option<ProjectNamespace> {
        let namespace = self.0.namespaces.get("", name)?;
        let label = namespace.metadata.labels.as_ref()?.get(PROJECT_LABEL)?;
        let project = self.0.projects.get("", label)?;
        Some(ProjectNamespace {
            project: label.clone(),
            project_is_deleted: project.metadata.deletion_timestamp.is_some(),
            is_deleted: namespace.metadata.deletion_timestamp.is_some(),
        })
    }
}

#[async_trait]
impl Webhook for ResourceSizes {
    async fn answer(&self, request: &AdmissionRequest<'_>) -> Answer {
        let (user, resource) = (&self.caller.user.username, &request.resource.resource);
        let (namespace, name) = (&request.namespace, &request.name);
        match resource_size::judge(&self.config, &self.caller, request) {
            Verdict::Fits => Answer::allowed(""),
            Verdict::Logged(size, limit) => {
                tracing::info!(
                    user,
                    resource,
                    namespace,
                    name,
                    requestObjectSize = size,
                    limit,
                    "Maximum resource size exceeded, request would be denied in blocking mode"
                );
                Answer::allowed("")
            }
            Verdict::Rejected(rejection) => {
                tracing::info!(
                    user,
                    resource,
                    namespace,
                    name,
                    reason = rejection.message,
                    "Maximum resource size exceeded, rejected request"
                );
                let operation = request.operation.to_string();
                self.measurements.rejected(&operation, &request.kind.kind, namespace, resource_size::REASON);
                rejection.into()
            }
            Verdict::Unknown(rejection) => rejection.into(),
        }
    }
}

#[async_trait]
impl Webhook for SeedRestrictions {
    async fn answer(&self, request: &AdmissionRequest<'_>) -> Answer {
        let user = &self.caller.user;
        let Some(client) = identify(&user.username, &user.groups) else { return Answer::allowed("") };
        self.garden.cluster.wait_until_synced().await;
        answer(seed_restriction::validate(&client, request, &self.garden, self.clock.now()))
    }
}

async fn in_time(read: impl Future<Output = Result<bool, String>>) -> Result<bool, String> {
    let within = timeout(READS, read).await;
    within.unwrap_or_else(|_| Err(format!("no answer of the API server within {READS:?}")))
}
