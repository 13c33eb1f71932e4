//! Releases the namespace of a Project that is being deleted.

use std::sync::Arc;
use std::time::Duration;

use api::garden::{Project, Shoot};
use controller::events::EventType;
use controller::{Outcome, describe_error};
use k8s_openapi::api::core::v1::Namespace;
use kube::ResourceExt as _;
use kube::api::{Api, DeleteParams, ListParams, Preconditions, PropagationPolicy};

use super::namespace::{self, Release};
use super::{ProjectError, Reconciler, TERMINATING, objects};
use crate::controllers::finalizer;

/// Reasons of events.
const NOT_EMPTY: &str = "NamespaceNotEmpty";
const DELETION_FAILED: &str = "NamespaceDeletionFailed";
const MARKED_FOR_DELETION: &str = "NamespaceMarkedForDeletion";

/// How often to check whether a namespace is gone; an event usually reports it earlier.
const PERIOD: Duration = Duration::from_mins(1);
/// Grace period of the namespace, in seconds.
const GRACE_PERIOD: u32 = 60;

impl Reconciler {
    /// GCM-PRJ-040 to -047.
    pub(super) async fn delete(&self, project: &Project) -> Result<Outcome, ProjectError> {
        if !finalizer::is_present(project) {
            return Ok(Outcome::Done);
        }
        let Some(name) = namespace::named(project) else { return self.remove_finalizer(project).await };
        if self.has_shoots(name).await.map_err(ProjectError::Shoots)? {
            let message = format!("Cannot release namespace {name:?} because it still contains Shoots");
            self.recorder.event(project, EventType::Warning, NOT_EMPTY, &message);
            tracing::info!("Cannot release Project Namespace because it still contains Shoots");
            self.set_phase(project, TERMINATING).await.map_err(ProjectError::Phase)?;
            return Ok(Outcome::Requeue);
        }
        match Box::pin(self.release_namespace(project, name)).await {
            Ok(true) => self.remove_finalizer(project).await,
            Ok(false) => {
                let message = format!("Successfully marked project namespace {name:?} for deletion");
                self.recorder.event(project, EventType::Normal, MARKED_FOR_DELETION, &message);
                self.set_phase(project, TERMINATING).await.map_err(ProjectError::Phase)?;
                Ok(Outcome::RequeueAfter(PERIOD))
            }
            Err(error) => {
                let message =
                    format!("Failed to release project namespace {name:?}: {}", describe_error(&error));
                self.recorder.event(project, EventType::Warning, DELETION_FAILED, &message);
                self.fail(project).await;
                Err(ProjectError::Release(error))
            }
        }
    }

    /// Whether there are Shoots in the namespace. The server has the last word: the cache may not have a new one yet.
    async fn has_shoots(&self, namespace: &str) -> Result<bool, kube::Error> {
        if !self.shoots.list_in(namespace).is_empty() {
            return Ok(true);
        }
        let shoots: Api<Shoot> = Api::namespaced(self.client.clone(), namespace);
        let one = shoots.list_metadata(&ListParams::default().limit(1)).await?;
        Ok(!one.items.is_empty())
    }

    /// Returns whether the namespace does not belong to the Project any more.
    async fn release_namespace(&self, project: &Project, name: &str) -> Result<bool, kube::Error> {
        let namespaces: Api<Namespace> = Api::all(self.client.clone());
        let found = match self.namespaces.get("", name) {
            Some(found) => Some(found),
            None => namespaces.get_metadata_opt(name).await?.map(Arc::new),
        };
        let Some(found) = found else { return Ok(true) };
        match namespace::release(project, &found) {
            Release::Foreign => Ok(true),
            Release::Pending => Ok(false),
            Release::Keep(metadata) => {
                tracing::info!("Project Namespace should be kept, removing owner references");
                self.patch_namespace(&found, metadata).await.map(|()| true)
            }
            Release::Delete => {
                tracing::info!("Deleting Project Namespace");
                let how = DeleteParams {
                    propagation_policy: Some(PropagationPolicy::Foreground),
                    grace_period_seconds: Some(GRACE_PERIOD),
                    // Another project may have a new namespace of this name.
                    preconditions: Some(Preconditions { uid: found.uid(), resource_version: None }),
                    ..DeleteParams::default()
                };
                objects::delete(&namespaces, name, &how).await.map(|()| false)
            }
        }
    }

    async fn remove_finalizer(&self, project: &Project) -> Result<Outcome, ProjectError> {
        tracing::info!("Removing finalizer");
        let removed = finalizer::remove(&self.projects(), project).await;
        removed.map(|()| Outcome::Done).map_err(ProjectError::RemoveFinalizer)
    }
}
