//! Records when something in a project's namespace was last used
//! (contracts/controller-manager/controllers/project-activity.yaml).

use std::sync::Arc;

use api::garden::{BackupEntry, Project, Quota, Shoot};
use controller::clock::Clock;
use controller::cluster::WatchedKind;
use controller::source::predicate;
use controller::{Controller, Event, Index, Outcome, Reconcile, Request, Selection, Store, Watch};
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::core::v1::Secret;
use kube::api::{Api, Patch, PatchParams};
use kube::core::PartialObjectMeta;
use kube::{Client, Resource, ResourceExt as _};
use serde_json::json;

use super::labels::SECRET_BINDING_REFERENCE;
use super::{Context, TIMEOUT};

/// Name in log and metrics.
pub const NAME: &str = "project-activity";
/// Age up to which an object counts as new; after a start of the instance it also sees older ones for the first time.
const NEW: SignedDuration = SignedDuration::from_hours(1);

/// The controller of one instance.
pub fn controller(context: &Context) -> Controller {
    let (garden, clock) = (&context.garden, context.clock);
    let projects = garden.store::<Project>(Selection::all());
    let by_namespace = projects.index(|project| project.spec.namespace.clone().into_iter().collect());
    let shoots = garden.store::<Shoot>(Selection::all());
    let backups = garden.store::<BackupEntry>(Selection::all());
    let quotas = garden.store::<Quota>(Selection::all());
    let secrets = garden.store::<PartialObjectMeta<Secret>>(Selection::all());
    let reconciler = Reconciler { by_namespace, client: garden.client(), clock };
    Controller::new(NAME, reconciler)
        .workers(super::workers(context.config.controllers.project.concurrent_syncs))
        .timeout(TIMEOUT)
        .source(activity(&shoots, clock).filter(predicate::generation_changed))
        .source(activity(&backups, clock).filter(predicate::generation_changed))
        .source(activity(&quotas, clock).filter(is_referenced))
        .source(activity(&secrets, clock).filter(is_referenced))
}

/// GCM-PRA-001, GCM-PRA-003, GCM-PRA-006: what happens to an object enqueues its namespace. The reconciler looks for the
/// project: at the start the cache of Projects may be filled later than that of the object.
fn activity<K: WatchedKind>(store: &Store<K>, clock: Clock) -> Watch<K> {
    let news = Watch::of(store).filter(move |event| is_news(event, clock.now()));
    news.map_new(|object| [Request::new("", object.namespace().unwrap_or_default())])
}

/// GCM-PRA-004: whether a change is one of now: each object that exists when the instance starts is an [`Event::Create`].
fn is_news<K: Resource>(event: &Event<K>, now: Timestamp) -> bool {
    let Event::Create(object) = event else { return true };
    let created = object.meta().creation_timestamp.as_ref();
    created.is_none_or(|created| now.duration_since(created.0) <= NEW)
}

/// GCM-PRA-002: whether SecretBindings refer to an object, before or after a change.
fn is_referenced<K: Resource>(event: &Event<K>) -> bool {
    let labelled = |object: &Arc<K>| object.labels().contains_key(SECRET_BINDING_REFERENCE);
    labelled(event.object()) || event.old().is_some_and(labelled)
}

/// Why a reconciliation failed.
#[derive(Debug, thiserror::Error)]
pub enum ActivityError {
    /// The status could not be written.
    #[error("failed updating Project's lastActivityTimestamp")]
    Write(#[source] kube::Error),
}

struct Reconciler {
    by_namespace: Index<Project>,
    client: Client,
    clock: Clock,
}

/// A Project that is used now.
struct State {
    project: Arc<Project>,
    /// In whole seconds.
    now: Timestamp,
}

/// Write this time to the status.
#[derive(Debug, PartialEq, Eq)]
struct Action(Timestamp);

impl Reconcile for Reconciler {
    type Error = ActivityError;

    async fn reconcile(&self, request: Request) -> Result<Outcome, ActivityError> {
        let Some(state) = self.observe(&request) else { return Ok(Outcome::Done) };
        for action in plan(&state) {
            self.execute(&state.project, action).await?;
        }
        Ok(Outcome::Done)
    }
}

impl Reconciler {
    /// GCM-PRA-005: the request names a namespace.
    fn observe(&self, request: &Request) -> Option<State> {
        let project = self.by_namespace.get(&request.name).into_iter().next()?;
        let now = Timestamp::from_second(self.clock.now().as_second()).unwrap_or_default();
        Some(State { project, now })
    }

    async fn execute(&self, project: &Project, Action(now): Action) -> Result<(), ActivityError> {
        tracing::info!(lastActivityTimestamp = %now, "Updating Project's lastActivityTimestamp");
        let projects: Api<Project> = Api::all(self.client.clone());
        let patch = Patch::Merge(json!({"status": {"lastActivityTimestamp": now.to_string()}}));
        match projects.patch_status(&project.name_any(), &PatchParams::default(), &patch).await {
            Err(kube::Error::Api(status)) if status.is_not_found() => Ok(()),
            patched => patched.map(drop).map_err(ActivityError::Write),
        }
    }
}

fn plan(state: &State) -> Vec<Action> {
    let last = state.project.status.last_activity_timestamp.as_ref().map(|time| time.0);
    if last == Some(state.now) { Vec::new() } else { vec![Action(state.now)] }
}
