//! The common part of controllers that check the objects of ManagedResources and write a condition.

mod check_result;
mod eligibility;
mod objects;
mod origin;
mod served_kinds;

use std::sync::Arc;
use std::time::Duration;

use controller::clock::Clock;
use controller::store::UnknownNamespace;
use controller::{Controller, Outcome, Reconcile, Request, Selection, Store, Watch, Watches};
use formats::duration::GoDuration;
use kube::api::{Api, Patch, PatchParams};
use kube::{Client, Resource as _};
use serde_json::{Value, json};

pub(super) use self::check_result::CheckResult;
use self::eligibility::Eligibility;
pub(super) use self::eligibility::SkipMessages;
pub(super) use self::objects::{CheckedKind, is_resync, is_skipped, selection};
pub(super) use self::origin::Origins;
pub(super) use self::served_kinds::ServedKinds;
use super::{Context, TIMEOUT};
use crate::managed_resource::{Class, ManagedResource, ObjectReference};

/// Default time between two checks.
const PERIOD: Duration = Duration::from_mins(1);

/// Checks the objects of a ManagedResource.
pub(super) trait ObjectCheck: Send + Sync + 'static {
    /// Type of the condition that holds the result.
    const CONDITION: &'static str;
    /// Log messages for ManagedResources that are not checked.
    const SKIP_MESSAGES: SkipMessages;

    /// Checks the objects; returns the content of the condition.
    fn check(&self, object: &ManagedResource)
    -> impl Future<Output = Result<CheckResult, CheckError>> + Send;
}

/// Why the objects of a ManagedResource cannot be checked.
#[derive(Debug, thiserror::Error)]
pub(super) enum CheckError {
    /// Discovery of the target cluster failed.
    #[error("failed to discover whether the target serves {kind}: {source}")]
    Discover {
        /// Version and kind.
        kind: String,
        /// The API server's error.
        source: kube::Error,
    },
    /// The object is in a namespace that the instance does not watch.
    #[error(transparent)]
    Namespace(#[from] UnknownNamespace),
    /// The objects could not be listed in time.
    #[error("failed to look at all objects within {0:?}")]
    Timeout(Duration),
    /// The result could not be written.
    #[error("could not update the ManagedResource status: {0}")]
    Write(#[source] kube::Error),
}

/// The controller of one instance. The value that `build_check` returns checks objects in the target and adds watches of
/// their kinds; the origin annotation of a changed object names the ManagedResource to check.
pub(super) fn controller<L: ObjectCheck>(
    name: &str,
    context: &Context,
    build_check: impl FnOnce(Watches, Origins) -> L,
) -> Controller {
    let watches = Watches::default();
    let cluster_id = context.config.controllers.cluster_id.as_deref().unwrap_or_default();
    let check = build_check(watches.clone(), Origins::new(cluster_id));
    let configured = &context.config.controllers.health;
    let period = configured.sync_period.and_then(GoDuration::to_std).unwrap_or(PERIOD);
    let class = context.class();
    let managed_resources = context.source.store::<ManagedResource>(Selection::all());
    let changed = {
        let class = class.clone();
        Watch::of(&managed_resources)
            .filter(move |event| eligibility::triggers_check(&class, L::CONDITION, event))
    };
    let (client, clock) = (context.source.client(), context.clock);
    let timeout = period.min(TIMEOUT);
    let reconciler = Reconciler { managed_resources, class, check, client, clock, period, timeout };
    Controller::new(name, reconciler)
        .workers(super::workers(configured.concurrent_syncs))
        .timeout(timeout)
        .source(changed)
        .watches(&watches)
}

struct Reconciler<L> {
    managed_resources: Store<ManagedResource>,
    class: Class,
    check: L,
    client: Client,
    clock: Clock,
    period: Duration,
    timeout: Duration,
}

/// The result of checking one ManagedResource.
enum State {
    /// The ManagedResource is gone.
    Gone,
    /// It was not checked, for this reason.
    Skipped(Eligibility),
    /// It was checked.
    Checked(Arc<ManagedResource>, CheckResult),
}

impl<L: ObjectCheck> Reconcile for Reconciler<L> {
    type Error = CheckError;

    async fn reconcile(&self, request: Request) -> Result<Outcome, CheckError> {
        let state = self.observe(&request).await?;
        self.execute(&request, self.plan(&state)).await?;
        Ok(self.outcome(&state))
    }
}

impl<L: ObjectCheck> Reconciler<L> {
    async fn observe(&self, request: &Request) -> Result<State, CheckError> {
        let Some(object) = self.managed_resources.get(&request.namespace, &request.name) else {
            tracing::debug!("Object is gone, stop reconciling");
            return Ok(State::Gone);
        };
        let eligibility = Eligibility::of(&self.class, &object);
        if let Some(message) = L::SKIP_MESSAGES.of(eligibility) {
            tracing::info!("{message}");
            return Ok(State::Skipped(eligibility));
        }
        // Half of the time is reserved for writing the result.
        let limit = self.timeout / 2;
        let checked = tokio::time::timeout(limit, self.check.check(&object)).await;
        let check_result = checked.map_err(|_elapsed| CheckError::Timeout(limit))??;
        Ok(State::Checked(object, check_result))
    }

    /// The status patch with the result, unless the condition has it already.
    fn plan(&self, state: &State) -> Option<Value> {
        let State::Checked(object, check_result) = state else { return None };
        let conditions =
            check_result.updated_conditions(L::CONDITION, self.clock.now(), &object.status.conditions)?;
        // The result belongs to this version: a newer one may have other objects.
        let version = &object.meta().resource_version;
        Some(json!({"metadata": {"resourceVersion": version}, "status": {"conditions": conditions}}))
    }

    async fn execute(&self, request: &Request, patch: Option<Value>) -> Result<(), CheckError> {
        let Some(patch) = patch else { return Ok(()) };
        let objects: Api<ManagedResource> = Api::namespaced(self.client.clone(), &request.namespace);
        let patched =
            objects.patch_status(&request.name, &PatchParams::default(), &Patch::Merge(patch)).await;
        patched.map(drop).map_err(CheckError::Write)
    }

    fn outcome(&self, state: &State) -> Outcome {
        match state {
            State::Gone
            | State::Skipped(Eligibility::Ignored | Eligibility::Irresponsible | Eligibility::Deleting) => {
                Outcome::Done
            }
            State::Skipped(Eligibility::Unapplied | Eligibility::Applied) | State::Checked(..) => {
                Outcome::RequeueAfter(self.period)
            }
        }
    }
}

/// The name of an object in messages: `namespace/name`, with a slash even if there is no namespace.
pub(super) fn key(reference: &ObjectReference) -> String {
    format!("{}/{}", reference.namespace, reference.name)
}
