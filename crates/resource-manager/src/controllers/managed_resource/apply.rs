//! Applies the objects of a ManagedResource in the target cluster: kind after kind, the objects of a kind
//! concurrently.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

use tokio::time::{Instant, timeout_at};

use super::api_errors::{describe_error, is_conflict, is_immutable, is_invalid, is_unclear};
use super::concurrency::run_concurrently;
use super::kinds::TargetKind;
use super::live::Live;
use super::memory::{Memory, ObjectKey, SyncedObject};
use super::target::{CachedState, Target, TargetError};
use crate::managed_resource::ObjectReference;
use crate::managed_resource::annotation::{
    is_config_map_or_secret, is_deleted_on_invalid_update, is_ignored,
};
use crate::managed_resource::equivalence::Equivalences;
use crate::managed_resource::inventory::WantedObject;
use crate::managed_resource::merge::{Overwrite, Preserve, Rules};
use crate::managed_resource::order::rank;
use crate::managed_resource::scaled::Scaled;
use crate::managed_resource::write::{ObjectWrite, WriteError, write};

/// Why an object could not be applied; the texts are the original's.
#[derive(Debug, thiserror::Error)]
pub(super) enum ApplyError {
    /// The object has changed in the meantime.
    #[error("{}", describe_error(.0))]
    Conflict(#[source] kube::Error),
    /// The object was deleted, to be recreated.
    #[error(
        "deleted object \"{object}\" because of 'invalid' update error, and 'delete-on-invalid-update' annotation on object or the resource is an immutable ConfigMap/Secret: {}",
        describe_error(source)
    )]
    Deleted {
        /// Its name in messages.
        object: String,
        /// Why it could not be updated.
        source: kube::Error,
    },
    /// The object should be recreated but could not be deleted.
    #[error("error deleting object \"{object}\" after 'invalid' update error: {}", describe_error(source))]
    Delete {
        /// Its name in messages.
        object: String,
        /// Why it could not be deleted.
        source: kube::Error,
    },
    /// It could not be read or written.
    #[error("error during apply of object \"{object}\": {source}")]
    Object {
        /// Its name in messages.
        object: String,
        /// The API server's error.
        source: TargetError,
    },
    /// The manifest cannot be applied.
    #[error("error during apply of object \"{object}\": {source}")]
    Write {
        /// Its name in messages.
        object: String,
        /// What is wrong with the manifest.
        source: WriteError,
    },
}

/// How to apply the objects of one ManagedResource.
pub(super) struct ApplyRun<'a> {
    /// The target cluster.
    pub(super) target: &'a Target,
    /// The origin annotation of the objects.
    pub(super) origin: &'a str,
    /// Labels to inject into all objects.
    pub(super) inject: &'a BTreeMap<String, String>,
    /// Which labels and annotations of others to remove.
    pub(super) force_overwrite: Overwrite,
    /// Objects under autoscalers.
    pub(super) scaled: &'a Scaled,
    /// Equivalent kinds.
    pub(super) equivalences: &'a Equivalences,
    /// Whether to write objects that seem unchanged, unless [`Self::memory`] confirms it.
    pub(super) always_update: bool,
    /// The objects that were in sync after an earlier pass.
    pub(super) memory: &'a Memory,
    /// Time after which nothing is started or awaited: GRM-MR-164.
    pub(super) deadline: Instant,
}

/// The result of applying objects.
#[derive(Debug)]
pub(super) struct ApplyOutcome<E = ApplyError> {
    /// Objects that are in sync with their manifests.
    pub(super) in_sync: BTreeMap<ObjectKey, SyncedObject>,
    /// Objects that may or may not have been written.
    pub(super) uncertain: BTreeSet<ObjectKey>,
    /// The first error; later kinds have not been started.
    pub(super) error: Option<E>,
}

impl<E> ApplyOutcome<E> {
    /// A result without any started object.
    #[must_use]
    pub(super) fn failed(error: E) -> Self {
        Self { in_sync: BTreeMap::new(), uncertain: BTreeSet::new(), error: Some(error) }
    }
}

impl ApplyError {
    /// Whether it is the API server's answer to a write.
    fn is_answer(&self) -> bool {
        matches!(self, Self::Conflict(_) | Self::Object { source: TargetError::Api(_), .. })
    }

    /// Whether the object may have been written in spite of the error.
    fn is_uncertain(&self) -> bool {
        match self {
            Self::Object { source: TargetError::TimedOut, .. } => true,
            Self::Object { source: TargetError::Api(error), .. } => is_unclear(error),
            _ => false,
        }
    }
}

impl ApplyRun<'_> {
    /// GRM-MR-027 and GRM-MR-157: applies objects, which are sorted by kind.
    pub(super) async fn apply_all(&self, wanted: &[WantedObject]) -> ApplyOutcome {
        let mut applied = ApplyOutcome { in_sync: BTreeMap::new(), uncertain: BTreeSet::new(), error: None };
        for of_one_kind in wanted.chunk_by(|one, other| rank(&one.object) == rank(&other.object)) {
            for (key, attempt) in run_concurrently(of_one_kind, |wanted| self.attempt(wanted)).await {
                match attempt {
                    Ok(in_sync) => drop(applied.in_sync.insert(key, in_sync)),
                    Err(error) => {
                        if error.is_uncertain() {
                            applied.uncertain.insert(key);
                        }
                        applied.error.get_or_insert(error);
                    }
                }
            }
            if applied.error.is_some() {
                break;
            }
        }
        applied
    }

    /// Applies one object before the deadline.
    async fn attempt(&self, wanted: &WantedObject) -> (ObjectKey, Result<SyncedObject, ApplyError>) {
        let object = ObjectReference::to(&wanted.object);
        let attempt = match timeout_at(self.deadline, self.apply_one(wanted, &object)).await {
            Ok(attempt) => attempt,
            Err(_elapsed) => {
                Err(ApplyError::Object { object: object.described(), source: TargetError::TimedOut })
            }
        };
        (ObjectKey::of(&object), attempt)
    }

    /// Applies one object: reads it, compares it with the manifest, writes it if necessary.
    async fn apply_one(
        &self,
        wanted: &WantedObject,
        object: &ObjectReference,
    ) -> Result<SyncedObject, ApplyError> {
        let failed = |source| ApplyError::Object { object: object.described(), source };
        let kind = self.target.kind(object).map_err(failed)?;
        let rules = self.rules(wanted);
        let manifest = digest(&rules, wanted);
        let observed = self.observe(&kind, wanted, object).await.map_err(failed)?;
        // Webhooks see this state of the namespace, or a later one.
        let namespace = self.target.namespaces.digest(&object.namespace);
        let synced_object = |live: &Live, is_watched| SyncedObject {
            kind: kind.clone(),
            manifest,
            live: live.digest(),
            namespace,
            is_watched,
        };
        let is_in_sync = |live: &&Live| self.is_in_sync(object, &synced_object(live, true));
        if let Some(live) = observed.as_deref().filter(is_in_sync) {
            return Ok(synced_object(live, true));
        }
        let written = self.write_if_different(&kind, &rules, wanted, observed.as_deref()).await;
        let written = match written {
            // A generated name is new.
            Err(refused) if observed.is_none() && refused.is_answer() && !object.name.is_empty() => {
                self.take_over(&kind, &rules, wanted, object, refused).await
            }
            written => written,
        }?;
        Ok(synced_object(&written, !is_ignored(&wanted.object)))
    }

    /// GRM-MR-183, GRM-MR-184, GRM-MR-185, GRM-MR-186, GRM-MR-187 and GRM-MR-188:
    /// after a refused creation, looks whether the object exists without our label, and
    /// updates it.
    ///
    /// "Already exists" is only one of the possible answers: API servers check quotas, allocated addresses and ports,
    /// webhooks, and whether the namespace is being deleted before they look for the object.
    async fn take_over(
        &self,
        kind: &TargetKind,
        rules: &Rules<'_>,
        wanted: &WantedObject,
        object: &ObjectReference,
        refused: ApplyError,
    ) -> Result<Live, ApplyError> {
        let live = self.target.get(kind, &object.namespace, &object.name).await;
        let live = live.map_err(|error| ApplyError::Object {
            object: object.described(),
            source: TargetError::Api(error),
        })?;
        match live {
            Some(live) => self.write_if_different(kind, rules, wanted, Some(&live)).await,
            None => Err(refused),
        }
    }

    /// The live object. If no managed object is known, assumes that it does not exist, unless the object must not be
    /// changed.
    async fn observe(
        &self,
        kind: &TargetKind,
        wanted: &WantedObject,
        object: &ObjectReference,
    ) -> Result<Option<Arc<Live>>, TargetError> {
        let (namespace, name) = (&object.namespace, &object.name);
        let found = self.target.find(kind, namespace, name).await?;
        match found {
            CachedState::Managed(live) => Ok(Some(live)),
            CachedState::Unmanaged if !is_ignored(&wanted.object) => Ok(None),
            CachedState::Unmanaged | CachedState::Unknown => {
                let live = self.target.get(kind, namespace, name).await.map_err(TargetError::Api)?;
                Ok(live.map(Arc::new))
            }
        }
    }

    /// Whether the object is the same as when it was in sync.
    fn is_in_sync(&self, object: &ObjectReference, now: &SyncedObject) -> bool {
        let known = self.memory.objects.get(&ObjectKey::of(object));
        known.is_some_and(|known| known.is_same(now))
    }

    /// Writes the object if it differs from the manifest.
    async fn write_if_different(
        &self,
        kind: &TargetKind,
        rules: &Rules<'_>,
        wanted: &WantedObject,
        live: Option<&Live>,
    ) -> Result<Live, ApplyError> {
        let described = || ObjectReference::to(&wanted.object).described();
        let before = live.map(|live| live.object(&kind.resource));
        let write =
            write(rules, &wanted.object, before.as_ref(), self.always_update && !is_ignored(&wanted.object));
        let write = write.map_err(|source| ApplyError::Write { object: described(), source })?;
        let (merged, answer) = match (write, live) {
            (ObjectWrite::Nothing, live) => return Ok(live.cloned().unwrap_or_default()),
            (ObjectWrite::Create(object), _) => {
                let created = self.target.create(kind, &object).await;
                if created.is_ok() {
                    tracing::info!(
                        resource = described(),
                        "Created resource because it was not existing before"
                    );
                }
                (None, created)
            }
            (ObjectWrite::Update(object), _) => {
                let updated = self.target.update(kind, &object).await;
                if updated.is_ok() {
                    tracing::info!(
                        resource = described(),
                        "Updated resource because its actual state differed from the desired state"
                    );
                }
                (Some(object), updated)
            }
        };
        match (answer, merged) {
            (Err(source), _) if is_conflict(&source) => Err(ApplyError::Conflict(source)),
            (Err(source), Some(merged))
                if is_invalid(&source)
                    && (is_deleted_on_invalid_update(&merged)
                        || (is_config_map_or_secret(&merged) && is_immutable(&source))) =>
            {
                Err(self.delete_for_recreation(kind, &ObjectReference::to(&merged), source).await)
            }
            (answer, _) => answer
                .map_err(|error| ApplyError::Object { object: described(), source: TargetError::Api(error) }),
        }
    }

    /// GRM-MR-036 and GRM-MR-037: deletes an object, so that the next pass recreates it.
    async fn delete_for_recreation(
        &self,
        kind: &TargetKind,
        object: &ObjectReference,
        source: kube::Error,
    ) -> ApplyError {
        match self.target.delete(kind, object, false).await {
            Ok(_) => ApplyError::Deleted { object: object.described(), source },
            Err(source) => ApplyError::Delete { object: object.described(), source },
        }
    }

    fn rules<'w>(&'w self, wanted: &'w WantedObject) -> Rules<'w> {
        let preserve = Preserve {
            replicas: self.scaled.is_horizontally(&wanted.object, self.equivalences),
            resources: self.scaled.is_vertically(&wanted.object, self.equivalences),
        };
        Rules {
            origin: self.origin,
            inject: self.inject,
            force_overwrite: self.force_overwrite,
            applied: &wanted.applied,
            preserve,
        }
    }
}

/// Digest of a manifest and of everything that is injected into it. The previously applied labels and annotations do
/// not count: an object in sync was applied with the same manifest.
fn digest(rules: &Rules<'_>, wanted: &WantedObject) -> u64 {
    let mut hasher = DefaultHasher::new();
    let Rules { origin, inject, force_overwrite, preserve, .. } = rules;
    (origin, inject, &wanted.object).hash(&mut hasher);
    [force_overwrite.labels, force_overwrite.annotations, preserve.replicas, preserve.resources]
        .hash(&mut hasher);
    hasher.finish()
}
