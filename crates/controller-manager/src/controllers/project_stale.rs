//! Marks unused Projects as stale, and deletes them after a time
//! (contracts/controller-manager/controllers/project-stale).

use std::sync::Arc;
use std::time::Duration;

use api::garden::reference::ObjectReference;
use api::garden::{BackupEntry, Project, Quota, SecretBinding, Shoot};
use controller::clock::Clock;
use controller::{Controller, Event, Index, Outcome, Reconcile, Request, Selection, Store, Watch};
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::core::v1::{Namespace, Secret};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::api::{Api, DeleteParams, Patch, PatchParams};
use kube::core::PartialObjectMeta;
use kube::{Client, Resource, ResourceExt as _};
use serde_json::{Value, json};

use super::labels::{ROLE, SECRET_BINDING_REFERENCE, is_true};
use super::{Context, confirmation, keys, later, period, timeout};
use crate::config::ProjectConfiguration;

/// Name in log and metrics.
pub const NAME: &str = "project-stale";
/// Annotation of a namespace: true exempts its project.
const SKIP: &str = "project.gardener.cloud/skip-stale-check";
/// Values of the label `gardener.cloud/role` of Secrets of Shoots.
const CONTROL_PLANE_ROLES: &str = "kubeconfig,ssh-keypair,monitoring";

/// The controller of one instance.
pub fn controller(context: &Context) -> Controller {
    let garden = &context.garden;
    let config = &context.config.controllers.project;
    let projects = garden.store::<Project>(Selection::all());
    let bindings = garden.store::<SecretBinding>(Selection::all());
    let shoots = garden.store::<Shoot>(Selection::all());
    let changed = Watch::of(&projects).filter(counts);
    let labels = format!("{SECRET_BINDING_REFERENCE}=true,{ROLE} notin ({CONTROL_PLANE_ROLES})");
    let reconciler = Reconciler {
        projects,
        namespaces: garden.store::<PartialObjectMeta<Namespace>>(Selection::all()),
        backups: garden.store::<BackupEntry>(Selection::all()),
        secrets: garden.store::<Secret>(Selection::all().labels(labels).reduced("type", reduce)),
        quotas: garden.store::<Quota>(Selection::all()),
        of_secret: bindings.index(|binding| {
            let secret = &binding.secret_ref;
            vec![keys::of_reference(secret.namespace.as_deref(), secret.name.as_deref())]
        }),
        of_quota: bindings.index(|binding| {
            let key = |quota: &ObjectReference| {
                keys::of_reference(quota.namespace.as_deref(), quota.name.as_deref())
            };
            binding.quotas.iter().map(key).collect()
        }),
        of_binding: shoots.index(|shoot| {
            let binding = shoot.spec.secret_binding_name.as_deref();
            vec![keys::of_reference(shoot.metadata.namespace.as_deref(), binding)]
        }),
        shoots,
        limits: Limits::of(config),
        period: period(config.stale_sync_period),
        client: garden.client(),
        clock: context.clock,
    };
    let timeout = timeout(reconciler.period);
    Controller::new(NAME, reconciler)
        .workers(super::workers(config.concurrent_syncs))
        .timeout(timeout)
        .source(changed)
}

/// GCM-PRS-006: like the original, a new time of the last activity does not count; the next period finds it.
fn counts(event: &Event<Project>) -> bool {
    let project = event.object();
    let is_reconciled = project.metadata.generation == project.status.observed_generation;
    let last = |project: &Arc<Project>| project.status.last_activity_timestamp.clone();
    match event {
        Event::Create(_) => true,
        Event::Update { old, new } => last(old) == last(new) || !is_reconciled,
        Event::Delete(_) | Event::Generic(_) => false,
    }
}

fn reduce(secret: &mut Secret) {
    secret.data = None;
    secret.metadata.annotations = None;
}

/// Why a reconciliation failed.
#[derive(Debug, thiserror::Error)]
pub enum StaleError {
    /// The namespace does not exist.
    #[error("Namespace {0:?} not found")]
    Namespace(String),
    /// The status could not be written.
    #[error("failed to write the status")]
    Status(#[source] kube::Error),
    /// The deletion could not be confirmed.
    #[error("failed to confirm the deletion")]
    Confirm(#[source] kube::Error),
    /// The Project could not be deleted.
    #[error("failed to delete the Project")]
    Delete(#[source] kube::Error),
}

/// Times of the configuration.
#[derive(Clone, Copy, Debug)]
struct Limits {
    minimum_lifetime: SignedDuration,
    grace_period: SignedDuration,
    expiration_time: SignedDuration,
}

impl Limits {
    fn of(config: &ProjectConfiguration) -> Self {
        let days = |days: Option<i64>| {
            SignedDuration::from_secs(days.unwrap_or_default().saturating_mul(24 * 60 * 60))
        };
        Self {
            minimum_lifetime: days(config.minimum_lifetime_days),
            grace_period: days(config.stale_grace_period_days),
            expiration_time: days(config.stale_expiration_time_days),
        }
    }
}

struct Reconciler {
    projects: Store<Project>,
    namespaces: Store<PartialObjectMeta<Namespace>>,
    shoots: Store<Shoot>,
    backups: Store<BackupEntry>,
    secrets: Store<Secret>,
    quotas: Store<Quota>,
    /// SecretBindings by their Secret and by their Quotas, Shoots by their SecretBinding: `namespace/name`.
    of_secret: Index<SecretBinding>,
    of_quota: Index<SecretBinding>,
    of_binding: Index<Shoot>,
    limits: Limits,
    period: Duration,
    client: Client,
    clock: Clock,
}

/// A Project that has a namespace.
struct State {
    project: Arc<Project>,
    is_exempt: bool,
    /// The kind of objects that use it.
    used_by: Option<&'static str>,
    now: Timestamp,
}

/// What to do with a Project, in this order.
#[derive(Debug, PartialEq)]
enum Action {
    /// Change these fields of the status.
    Mark(Value),
    ConfirmDeletion(Timestamp),
    Delete,
}

impl Reconcile for Reconciler {
    type Error = StaleError;

    async fn reconcile(&self, request: Request) -> Result<Outcome, StaleError> {
        let Some(project) = self.projects.get("", &request.name) else { return Ok(Outcome::Done) };
        let state = self.observe(project)?;
        for action in state.iter().flat_map(|state| plan(self.limits, state)) {
            self.execute(&request, action).await?;
        }
        Ok(Outcome::RequeueAfter(self.period))
    }
}

impl Reconciler {
    /// GCM-PRS-010: `None` if the Project is being deleted or has no namespace yet.
    fn observe(&self, project: Arc<Project>) -> Result<Option<State>, StaleError> {
        let namespace =
            project.spec.namespace.clone().filter(|_| project.metadata.deletion_timestamp.is_none());
        let Some(name) = namespace else { return Ok(None) };
        let namespace = self.namespaces.get("", &name);
        let namespace = namespace.ok_or_else(|| StaleError::Namespace(name.clone()))?;
        let is_exempt = is_true(namespace.annotations().get(SKIP));
        Ok(Some(State { project, is_exempt, used_by: self.used_by(&name), now: self.clock.now() }))
    }

    /// GCM-PRS-004: the first kind of objects of a namespace that is used.
    fn used_by(&self, namespace: &str) -> Option<&'static str> {
        if !self.shoots.list_in(namespace).is_empty() {
            return Some("Shoots");
        }
        if !self.backups.list_in(namespace).is_empty() {
            return Some("BackupEntries");
        }
        let secrets = self.secrets.list_in(namespace);
        if secrets
            .iter()
            .filter(|secret| is_credentials(secret))
            .any(|secret| self.is_used(&self.of_secret, secret))
        {
            return Some("Secrets");
        }
        let quotas = self.quotas.list_in(namespace);
        quotas.iter().any(|quota| self.is_used(&self.of_quota, quota)).then_some("Quotas")
    }

    /// Whether a SecretBinding of any namespace refers to the object, and a Shoot to the SecretBinding.
    fn is_used(&self, index: &Index<SecretBinding>, object: &Arc<impl Resource>) -> bool {
        let bindings = index.get(&keys::of(&**object));
        bindings.iter().any(|binding| !self.of_binding.get(&keys::of(&**binding)).is_empty())
    }

    async fn execute(&self, request: &Request, action: Action) -> Result<(), StaleError> {
        let projects: Api<Project> = Api::all(self.client.clone());
        let done = match action {
            Action::Mark(status) => {
                let patch = Patch::Merge(json!({"status": status}));
                let patched = projects.patch_status(&request.name, &PatchParams::default(), &patch).await;
                return patched.map(drop).map_err(StaleError::Status);
            }
            Action::ConfirmDeletion(now) => {
                tracing::info!("Deleting Project now because its auto-delete timestamp is exceeded");
                confirmation::confirm(&projects, &request.name, now).await.map_err(StaleError::Confirm)
            }
            Action::Delete => {
                let deleted = projects.delete(&request.name, &DeleteParams::default()).await;
                deleted.map(drop).map_err(StaleError::Delete)
            }
        };
        match done {
            Err(
                StaleError::Confirm(kube::Error::Api(status)) | StaleError::Delete(kube::Error::Api(status)),
            ) if status.is_not_found() => Ok(()),
            done => done,
        }
    }
}

/// GCM-PRS-004: whether a Secret has credentials of users: Secrets of Shoots do not count.
fn is_credentials(secret: &Secret) -> bool {
    let is_shoot =
        |owner: &OwnerReference| owner.api_version == api::garden::API_VERSION && owner.kind == "Shoot";
    secret.type_.as_deref() == Some("Opaque") && !secret.owner_references().iter().any(is_shoot)
}

/// GCM-PRS-001 to -009.
fn plan(limits: Limits, state: &State) -> Vec<Action> {
    let status = &state.project.status;
    let (since, end) = (&status.stale_since_timestamp, &status.stale_auto_delete_timestamp);
    if let Some(reason) = not_stale(limits, state) {
        tracing::debug!(reason, "Marking Project as not stale");
        let was_stale = since.is_some() || end.is_some();
        let mark = json!({"staleSinceTimestamp": null, "staleAutoDeleteTimestamp": null});
        return was_stale.then_some(Action::Mark(mark)).into_iter().collect();
    }
    let now = Timestamp::from_second(state.now.as_second()).unwrap_or_default();
    let (since, end) = (since.as_ref().map(|time| time.0), end.as_ref().map(|time| time.0));
    let new_since = since.unwrap_or(now);
    let new_end = if later(new_since, limits.grace_period) > state.now {
        None
    } else {
        end.max(Some(later(new_since, limits.expiration_time)))
    };
    let mark = json!({
        "staleSinceTimestamp": new_since.to_string(),
        "staleAutoDeleteTimestamp": new_end.map(|end| end.to_string()),
    });
    let is_marked = since == Some(new_since) && end == new_end;
    let mut actions: Vec<Action> = (!is_marked).then_some(Action::Mark(mark)).into_iter().collect();
    if new_end.is_some_and(|end| state.now >= end) {
        actions.extend([Action::ConfirmDeletion(state.now), Action::Delete]);
    }
    actions
}

/// Why a Project is not stale.
fn not_stale(limits: Limits, state: &State) -> Option<&'static str> {
    let Project { metadata, status, .. } = &*state.project;
    let is_recent =
        |time: Option<Timestamp>| time.is_some_and(|time| later(time, limits.minimum_lifetime) > state.now);
    if state.is_exempt {
        return Some("its namespace skips the check");
    }
    if is_recent(metadata.creation_timestamp.as_ref().map(|time| time.0)) {
        return Some("it is younger than the minimum lifetime");
    }
    if is_recent(status.last_activity_timestamp.as_ref().map(|time| time.0)) {
        return Some("it was used recently");
    }
    state.used_by
}
