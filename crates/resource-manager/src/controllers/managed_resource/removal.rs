//! Deletes objects that a ManagedResource no longer describes, concurrently.

use std::collections::BTreeMap;

use formats::duration::GoDuration;
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::core::v1::PersistentVolumeClaim;
use kube::api::{Api, DeleteParams, ListParams};
use serde_json::{Value, json};
use tokio::time::{Instant, timeout_at};

use super::api_errors::describe_error;
use super::concurrency::run_concurrently;
use super::kinds::TargetKind;
use super::live::Live;
use super::pass::TIMED_OUT;
use super::record::is_foreign;
use super::target::{CachedState, DeletionProgress, Target, TargetError};
use crate::controllers::events;
use crate::controllers::failures::format_errors;
use crate::managed_resource::annotation::{
    FinalizeError, finalize_deletion_after, is_garbage_collectable, keeps_object,
};
use crate::managed_resource::{GroupKind, ObjectReference};

/// Groups whose objects are deleted after their dependents.
const FOREGROUND: [&str; 3] = ["apps", "extensions", "batch"];

/// How to delete objects.
#[derive(Clone, Copy)]
pub(super) struct Removal<'a> {
    /// The target cluster.
    pub(super) target: &'a Target,
    /// The origin annotation of our objects.
    pub(super) origin: &'a str,
    /// The time of day.
    pub(super) now: Timestamp,
    /// Whether the garbage collector runs.
    pub(super) collects_garbage: bool,
    /// Whether to delete volume claims with their StatefulSet.
    pub(super) deletes_claims: bool,
    /// Time after which nothing is awaited.
    pub(super) deadline: Instant,
}

/// The steps of deleting an object, in this order.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Action {
    /// Delete the volume claims with these labels.
    DeleteClaims(BTreeMap<String, String>),
    /// Delete the object.
    Delete {
        /// Whether its dependents must be gone first.
        foreground: bool,
    },
    /// Remove its finalizers.
    Finalize,
}

/// Why an object could not be deleted.
#[derive(Debug, thiserror::Error)]
enum RemovalError {
    #[error("{}", describe_error(.0))]
    Api(#[source] kube::Error),
    #[error(transparent)]
    Target(#[from] TargetError),
    #[error("failed cleaning up PersistentVolumeClaims of StatefulSet: could not list PVCs of StatefulSet: {}", describe_error(.0))]
    ListClaims(#[source] kube::Error),
    #[error("failed cleaning up PersistentVolumeClaims of StatefulSet: {}", describe_error(.0))]
    DeleteClaims(#[source] kube::Error),
    #[error(transparent)]
    Finalize(#[from] FinalizeError),
    #[error("{TIMED_OUT}")]
    TimedOut,
}

impl Removal<'_> {
    /// GRM-MR-041, GRM-MR-045 and GRM-MR-060: deletes objects; returns a message about those that still exist, if
    /// any.
    pub(super) async fn remove_all(&self, objects: &[ObjectReference]) -> Option<String> {
        let messages = run_concurrently(objects, |object| self.remove_or_describe(object)).await;
        let pending: Vec<String> = messages.into_iter().flatten().collect();
        (!pending.is_empty())
            .then(|| format!("Could not clean all old resources: {}", format_errors(&pending)))
    }

    /// Deletes an object; returns a message if it still exists.
    async fn remove_or_describe(&self, object: &ObjectReference) -> Option<String> {
        tracing::info!(resource = object.described(), "Deleting");
        let removed = timeout_at(self.deadline, self.remove_one(object)).await;
        let removed = removed.unwrap_or(Err(RemovalError::TimedOut));
        let described = object.described();
        let mut text = format!("deletion of old resource \"{described}\" is still pending");
        match removed {
            Ok(DeletionProgress::Gone) => return None,
            Ok(DeletionProgress::Pending) => {}
            Err(error) => {
                tracing::error!(resource = described, %error, "Error during deletion");
                text = format!("{text}: {error}");
            }
        }
        Some(match timeout_at(self.deadline, self.warnings(object)).await {
            Ok(Some(warnings)) => format!("{text}\n\n{warnings}"),
            Ok(None) | Err(_) => text,
        })
    }

    /// GRM-MR-054: warnings about a Service, whose deletion often depends on external resources.
    async fn warnings(&self, object: &ObjectReference) -> Option<String> {
        if object.group_kind() != (GroupKind { group: String::new(), kind: "Service".to_owned() }) {
            return None;
        }
        let warnings = events::warnings(self.target.client(), object, self.now).await;
        warnings.unwrap_or_else(|error| {
            let resource = object.described();
            tracing::error!(
                resource,
                error = describe_error(&error),
                "Error reading events for more information"
            );
            None
        })
    }

    async fn remove_one(&self, object: &ObjectReference) -> Result<DeletionProgress, RemovalError> {
        let Ok(kind) = self.target.kind(object) else { return Ok(DeletionProgress::Gone) };
        let Some(live) = self.observe(&kind, object).await? else { return Ok(DeletionProgress::Gone) };
        let found = live.object(&kind.resource);
        if is_foreign(object, &found, self.origin) {
            tracing::info!(resource = object.described(), "Leaving object alone that was never applied");
            return Ok(DeletionProgress::Gone);
        }
        let Some((actions, outcome)) = self.plan(&found) else {
            tracing::info!(resource = object.described(), "Keeping object in the system");
            return Ok(DeletionProgress::Gone);
        };
        // Without actions, the deletion of the object is already under way.
        let mut deleted = DeletionProgress::Pending;
        for action in actions {
            deleted = self.execute(&kind, object, &live, action).await?;
        }
        outcome?;
        Ok(deleted)
    }

    /// GRM-MR-046.
    async fn observe(
        &self,
        kind: &TargetKind,
        object: &ObjectReference,
    ) -> Result<Option<Live>, RemovalError> {
        let (namespace, name) = (&object.namespace, &object.name);
        // The original reads from the API server, so it does not matter whether it watches the namespace.
        match self.target.find(kind, namespace, name).await {
            Ok(CachedState::Managed(live)) => Ok(Some(live.as_ref().clone())),
            Ok(CachedState::Unmanaged | CachedState::Unknown) | Err(_) => {
                self.target.get(kind, namespace, name).await.map_err(RemovalError::Api)
            }
        }
    }

    /// GRM-MR-041, GRM-MR-043, GRM-MR-047, GRM-MR-050, GRM-MR-051 and GRM-MR-052: the actions, and an error to return
    /// after them; `None` if the object is kept.
    fn plan(&self, live: &Value) -> Option<(Vec<Action>, Result<(), FinalizeError>)> {
        if keeps_object(live) || (self.collects_garbage && is_garbage_collectable(live)) {
            return None;
        }
        let kind = crate::managed_resource::unstructured::group_kind(live);
        let is_stateful = kind.kind == "StatefulSet" && ["apps", "extensions"].contains(&kind.group.as_str());
        let mut actions = Vec::new();
        if is_stateful && self.deletes_claims {
            actions.extend(claims(live).map(Action::DeleteClaims));
        }
        let deleting = live["metadata"]["deletionTimestamp"].as_str();
        let since = deleting.and_then(|time| time.parse::<Timestamp>().ok());
        if deleting.is_none() {
            actions.push(Action::Delete { foreground: FOREGROUND.contains(&kind.group.as_str()) });
        }
        let after = match finalize_deletion_after(live) {
            Ok(after) => SignedDuration::from_nanos(after.map_or(0, GoDuration::nanos)),
            Err(error) => return Some((actions, Err(error))),
        };
        let is_due = since.is_some_and(|since| self.now.duration_since(since) >= after);
        if !after.is_zero() && is_due && has_finalizers(live) {
            actions.push(Action::Finalize);
        }
        Some((actions, Ok(())))
    }

    async fn execute(
        &self,
        kind: &TargetKind,
        object: &ObjectReference,
        live: &Live,
        action: Action,
    ) -> Result<DeletionProgress, RemovalError> {
        match action {
            Action::DeleteClaims(labels) => {
                self.delete_claims(object, &labels).await.map(|()| DeletionProgress::Pending)
            }
            Action::Delete { foreground } => {
                self.target.delete(kind, object, foreground).await.map_err(RemovalError::Api)
            }
            Action::Finalize => self.finalize(kind, object, live).await.map_err(RemovalError::Api),
        }
    }

    async fn delete_claims(
        &self,
        object: &ObjectReference,
        labels: &BTreeMap<String, String>,
    ) -> Result<(), RemovalError> {
        let labels: Vec<String> = labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
        let selected = ListParams::default().labels(&labels.join(","));
        let client = self.target.client().clone();
        let claims: Api<PersistentVolumeClaim> = Api::namespaced(client, &object.namespace);
        let found = claims.list_metadata(&selected).await.map_err(RemovalError::ListClaims)?;
        if found.items.is_empty() {
            return Ok(());
        }
        let deleted = claims.delete_collection(&DeleteParams::default(), &selected).await;
        deleted.map(drop).map_err(RemovalError::DeleteClaims)
    }

    /// Removes the finalizers of an object whose grace period has elapsed: GRM-MR-051 and GRM-MR-053.
    async fn finalize(
        &self,
        kind: &TargetKind,
        object: &ObjectReference,
        live: &Live,
    ) -> Result<DeletionProgress, kube::Error> {
        tracing::info!(
            resource = object.described(),
            "Removing finalizers from resource since grace period has elapsed"
        );
        let mut whole = live.object(&kind.resource);
        // The finalize subresource of a Namespace only changes its spec; finalizers in the metadata are removed
        // first, as of any object.
        let done = if lists_finalizers(&whole["metadata"]) {
            self.target.patch(kind, object, &json!({"metadata": {"finalizers": null}})).await.map(drop)
        } else {
            whole["spec"]["finalizers"] = json!([]);
            self.target.finalize(kind, object, &whole).await
        };
        match done {
            Err(error) if super::api_errors::is_not_found(&error) => Ok(DeletionProgress::Gone),
            done => done.map(|()| DeletionProgress::Pending),
        }
    }
}

/// Labels of the volume claims of a StatefulSet that has any.
fn claims(live: &Value) -> Option<BTreeMap<String, String>> {
    live["spec"]["volumeClaimTemplates"].as_array().filter(|templates| !templates.is_empty())?;
    serde_json::from_value(live["spec"]["selector"]["matchLabels"].clone()).ok()
}

fn has_finalizers(live: &Value) -> bool {
    lists_finalizers(&live["metadata"]) || (live["kind"] == "Namespace" && lists_finalizers(&live["spec"]))
}

/// Whether there are finalizers in metadata or spec.
fn lists_finalizers(part: &Value) -> bool {
    part["finalizers"].as_array().is_some_and(|finalizers| !finalizers.is_empty())
}
