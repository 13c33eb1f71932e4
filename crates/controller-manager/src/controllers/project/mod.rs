//! Gives each Project its namespace, ResourceQuota and RBAC, and releases the namespace when the Project is deleted
//! (contracts/controller-manager/controllers/project).
//!
//! `namespace`, `quota` and `rbac` decide what there should be; `steps` and `deletion` write it, and `objects` creates or
//! changes single objects.

mod deletion;
mod namespace;
mod objects;
mod quota;
mod rbac;
mod steps;

use std::collections::BTreeSet;

use api::garden::{Project, Shoot};
use controller::events::{EventType, Recorder, recorder};
use controller::reconcile::parallel::Failures;
use controller::source::predicate;
use controller::{
    Controller, Event, Index, Outcome, Reconcile, Request, Selection, Store, Watch, describe_error, owners,
};
use k8s_openapi::api::core::v1::{Namespace, ResourceQuota};
use k8s_openapi::api::rbac::v1::{ClusterRole, ClusterRoleBinding, RoleBinding};
use kube::api::{Api, Patch, PatchParams};
use kube::core::PartialObjectMeta;
use kube::{Client, ResourceExt as _};
use parking_lot::Mutex;
use serde_json::json;

use self::namespace::NamespaceError;
use self::quota::QuotaError;
use super::labels::PROJECT_NAME;
use super::{Context, TIMEOUT};
use crate::config::QuotaConfiguration;

/// Name in log and metrics.
pub const NAME: &str = "project";

const PENDING: &str = "Pending";
const READY: &str = "Ready";
const FAILED: &str = "Failed";
const TERMINATING: &str = "Terminating";

/// Reason of the event that a Project could not be reconciled.
const RECONCILE_FAILED: &str = "NamespaceReconcileFailed";

/// Namespaces, of which only the metadata matters.
type NamespaceMetadata = PartialObjectMeta<Namespace>;

/// The controller of one instance.
pub fn controller(context: &Context) -> Controller {
    let garden = &context.garden;
    let config = &context.config.controllers.project;
    let component = format!("{NAME}-controller");
    let (recorder, writer) = recorder(garden.client(), &component, context.clock, context.entropy.clone());
    let projects = garden.store::<Project>(Selection::all());
    let namespaces = garden.store::<NamespaceMetadata>(Selection::all());
    let cluster_roles = garden.store::<ClusterRole>(Selection::all().reduced("of projects", reduce));
    let role_bindings = garden.store::<RoleBinding>(Selection::all());
    let changed = Watch::of(&projects).filter(predicate::generation_changed);
    let gone = Watch::of(&namespaces)
        .filter(|event| matches!(event, Event::Delete(_)))
        .map(owners::<Project, NamespaceMetadata>(&(), true));
    let damaged = Watch::of(&role_bindings).filter(is_damaged).map(owners::<Project, RoleBinding>(&(), true));
    let reconciler = Reconciler {
        projects,
        namespaces,
        shoots: garden.store::<Shoot>(Selection::all()),
        quotas: garden.store::<ResourceQuota>(Selection::all().fields(quota::SELECTION)),
        roles_of_project: cluster_roles
            .index(|role| role.labels().get(PROJECT_NAME).cloned().into_iter().collect()),
        cluster_roles,
        cluster_role_bindings: garden.store::<ClusterRoleBinding>(Selection::all()),
        role_bindings,
        quota_configurations: config.quotas.clone(),
        unseen_failures: Mutex::default(),
        client: garden.client(),
        recorder,
    };
    Controller::new(NAME, reconciler)
        .workers(super::workers(config.concurrent_syncs))
        .timeout(TIMEOUT)
        .source(changed)
        .source(gone)
        .source(damaged)
        .source(writer)
}

/// Drops the rules of roles that are not those of projects.
fn reduce(role: &mut ClusterRole) {
    if !rbac::is_of_project(&role.name_any()) {
        role.rules = None;
    }
}

/// GCM-PRJ-024: whether somebody deleted or changed a RoleBinding, or it is time to check it.
fn is_damaged(event: &Event<RoleBinding>) -> bool {
    match event {
        Event::Delete(_) => true,
        Event::Create(_) | Event::Generic(_) => false,
        Event::Update { old, new } => {
            old.metadata.resource_version == new.metadata.resource_version
                || (&old.role_ref, &old.subjects) != (&new.role_ref, &new.subjects)
        }
    }
}

/// Why a reconciliation failed; the texts are those of the original's events.
#[derive(Debug, thiserror::Error)]
pub enum ProjectError {
    /// The finalizer could not be added.
    #[error("could not add finalizer")]
    AddFinalizer(#[source] kube::Error),
    /// The phase could not be written.
    #[error("failed to write the phase")]
    Phase(#[source] kube::Error),
    /// The namespace could not be created or adopted.
    #[error(transparent)]
    Namespace(NamespaceError),
    /// The name of the namespace could not be written to the Project.
    #[error("failed to write the name of the namespace")]
    SpecNamespace(#[source] kube::Error),
    /// The ResourceQuota could not be written.
    #[error("Error while setting up ResourceQuota")]
    Quota(#[source] QuotaError),
    /// RBAC objects could not be written.
    #[error("Error while reconciling RBAC resources for namespace {namespace:?}")]
    Rbac {
        /// The namespace.
        namespace: String,
        /// The failed requests.
        #[source]
        source: Failures,
    },
    /// RBAC objects of unused extension roles could not be deleted.
    #[error("Error while deleting stale RBAC rules for extension roles")]
    StaleRoles(#[source] kube::Error),
    /// The phase `Ready` could not be written.
    #[error("Error while trying to mark project as ready")]
    Ready(#[source] kube::Error),
    /// It is unknown whether there are Shoots.
    #[error("failed to check if namespace is empty")]
    Shoots(#[source] kube::Error),
    /// The namespace could not be released.
    #[error("failed to release project namespace")]
    Release(#[source] kube::Error),
    /// The finalizer could not be removed.
    #[error("failed to remove finalizer")]
    RemoveFinalizer(#[source] kube::Error),
}

struct Reconciler {
    projects: Store<Project>,
    namespaces: Store<NamespaceMetadata>,
    shoots: Store<Shoot>,
    quotas: Store<ResourceQuota>,
    cluster_roles: Store<ClusterRole>,
    roles_of_project: Index<ClusterRole>,
    cluster_role_bindings: Store<ClusterRoleBinding>,
    role_bindings: Store<RoleBinding>,
    quota_configurations: Vec<QuotaConfiguration>,
    /// Projects that this instance marked as failed: the cache may still have their old phase.
    unseen_failures: Mutex<BTreeSet<String>>,
    client: Client,
    recorder: Recorder,
}

impl Reconcile for Reconciler {
    type Error = ProjectError;

    /// GCM-PRJ-001, GCM-PRJ-030, GCM-PRJ-031.
    async fn reconcile(&self, request: Request) -> Result<Outcome, ProjectError> {
        let Some(project) = self.projects.get("", &request.name) else {
            self.unseen_failures.lock().remove(&request.name);
            return Ok(Outcome::Done); // guard: the Project is gone
        };
        if project.metadata.deletion_timestamp.is_some() {
            return Box::pin(self.delete(&project)).await; // guard: the Project is being deleted
        }
        let project = Box::pin(self.begin(&project)).await?; // step 1
        if let Err(error) = Box::pin(self.provide(&project)).await {
            self.report(&project, &error).await;
            return Err(error); // step 2 failed
        }
        Ok(Outcome::Done)
    }
}

impl Reconciler {
    fn projects(&self) -> Api<Project> {
        Api::all(self.client.clone())
    }

    /// GCM-PRJ-032, GCM-PRJ-033: records the error of a step, and the phase `Failed` unless that cannot be written.
    async fn report(&self, project: &Project, error: &ProjectError) {
        let message = match error {
            ProjectError::Namespace(NamespaceError::Write(cause)) | ProjectError::SpecNamespace(cause) => {
                describe_error(cause)
            }
            ProjectError::Quota(QuotaError::Write(cause)) => format!("{error}: {}", describe_error(cause)),
            error => describe_error(error),
        };
        self.recorder.event(project, EventType::Warning, RECONCILE_FAILED, &message);
        if !matches!(error, ProjectError::Ready(_)) {
            self.fail(project).await;
        }
    }

    /// Writes the phase `Failed`; the caller reports another error.
    async fn fail(&self, project: &Project) {
        if let Err(error) = self.set_phase(project, FAILED).await {
            tracing::error!(%error, "Failed to update Project status");
        }
    }

    /// GCM-PRJ-031: writes the phase and the observed generation.
    async fn set_phase(&self, project: &Project, phase: &str) -> Result<(), kube::Error> {
        let name = project.name_any();
        let generation = project.metadata.generation;
        let is_set = project.status.phase.as_deref() == Some(phase)
            && project.status.observed_generation == generation;
        // Whether the cache has this failure or an older one makes no difference.
        if is_set && (phase == FAILED || !self.unseen_failures.lock().contains(&name)) {
            return Ok(());
        }
        let status = json!({"observedGeneration": generation, "phase": phase});
        let patch = Patch::Merge(json!({"status": status}));
        self.projects().patch_status(&name, &PatchParams::default(), &patch).await?;
        let mut unseen = self.unseen_failures.lock();
        if phase == FAILED {
            unseen.insert(name)
        } else {
            unseen.remove(&name)
        };
        Ok(())
    }
}
