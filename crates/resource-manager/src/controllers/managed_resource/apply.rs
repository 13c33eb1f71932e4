//! Brings the objects of a ManagedResource into the target cluster: kind by kind, all objects of a kind at once.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

use tokio::time::{Instant, timeout_at};

use super::api_errors::{
    describe_error, is_already_there, is_conflict, is_immutable, is_invalid, is_unclear,
};
use super::kinds::Kind;
use super::live::Live;
use super::settled::{Key, Memory, Settled};
use super::target::{Found, Target, TargetError};
use super::turns::in_turns;
use crate::managed_resource::ObjectReference;
use crate::managed_resource::annotation::{
    is_config_map_or_secret, is_deleted_on_invalid_update, is_ignored,
};
use crate::managed_resource::equivalence::Equivalences;
use crate::managed_resource::inventory::Wanted;
use crate::managed_resource::merge::{Overwrite, Preserve, Rules};
use crate::managed_resource::order::rank;
use crate::managed_resource::scaled::Scaled;
use crate::managed_resource::write::{Write, WriteError, write};

/// Why an object is not as its manifest says; the texts are the original's.
#[derive(Debug, thiserror::Error)]
pub(super) enum ApplyError {
    /// Somebody else was faster.
    #[error("{}", describe_error(.0))]
    Conflict(#[source] kube::Error),
    /// It is to be made anew.
    #[error(
        "deleted object \"{object}\" because of 'invalid' update error, and 'delete-on-invalid-update' annotation on object or the resource is an immutable ConfigMap/Secret: {}",
        describe_error(source)
    )]
    Deleted {
        /// As messages name it.
        object: String,
        /// Why it could not be updated.
        source: kube::Error,
    },
    /// It is to be made anew, and is still there.
    #[error("error deleting object \"{object}\" after 'invalid' update error: {}", describe_error(source))]
    Delete {
        /// As messages name it.
        object: String,
        /// Why it could not be deleted.
        source: kube::Error,
    },
    /// It could not be read or written.
    #[error("error during apply of object \"{object}\": {source}")]
    Object {
        /// As messages name it.
        object: String,
        /// The API server's reason.
        source: TargetError,
    },
    /// It cannot be what the manifest says.
    #[error("error during apply of object \"{object}\": {source}")]
    Write {
        /// As messages name it.
        object: String,
        /// What is wrong with the manifest.
        source: WriteError,
    },
}

/// How the objects of one ManagedResource are applied.
pub(super) struct Applying<'a> {
    /// Where.
    pub(super) target: &'a Target,
    /// The annotation that tells where objects come from.
    pub(super) origin: &'a str,
    /// Labels that all objects get.
    pub(super) inject: &'a BTreeMap<String, String>,
    /// What of others is removed.
    pub(super) force_overwrite: Overwrite,
    /// What is scaled.
    pub(super) scaled: &'a Scaled,
    /// Kinds that are one.
    pub(super) equivalences: &'a Equivalences,
    /// Whether objects are written though they seem to be in order, unless we know that they are.
    pub(super) always: bool,
    /// What is known of them.
    pub(super) memory: &'a Memory,
    /// When nothing more is begun or waited for: GRM-MR-164.
    pub(super) deadline: Instant,
}

/// What has become of the objects.
#[derive(Debug)]
pub(super) struct Applied<E = ApplyError> {
    /// Those that are in order.
    pub(super) settled: BTreeMap<Key, Settled>,
    /// Those of which nobody told whether they were written.
    pub(super) doubtful: BTreeSet<Key>,
    /// Why not all are; kinds that come later have not been begun.
    pub(super) error: Option<E>,
}

impl<E> Applied<E> {
    /// Nothing has been begun.
    #[must_use]
    pub(super) fn failed(error: E) -> Self {
        Self { settled: BTreeMap::new(), doubtful: BTreeSet::new(), error: Some(error) }
    }
}

impl ApplyError {
    /// Whether the object may have been written all the same.
    fn leaves_doubt(&self) -> bool {
        match self {
            Self::Object { source: TargetError::TimedOut, .. } => true,
            Self::Object { source: TargetError::Api(error), .. } => is_unclear(error),
            _ => false,
        }
    }
}

impl Applying<'_> {
    /// GRM-MR-027 and GRM-MR-157: applies objects, which come in the order of their kinds.
    pub(super) async fn all(&self, wanted: &[Wanted]) -> Applied {
        let mut applied = Applied { settled: BTreeMap::new(), doubtful: BTreeSet::new(), error: None };
        for of_one_kind in wanted.chunk_by(|one, other| rank(&one.object) == rank(&other.object)) {
            for (key, attempt) in in_turns(of_one_kind, |wanted| self.attempt(wanted)).await {
                match attempt {
                    Ok(settled) => drop(applied.settled.insert(key, settled)),
                    Err(error) => {
                        if error.leaves_doubt() {
                            applied.doubtful.insert(key);
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

    /// One object, in the time that there is.
    async fn attempt(&self, wanted: &Wanted) -> (Key, Result<Settled, ApplyError>) {
        let object = ObjectReference::to(&wanted.object);
        let attempt = match timeout_at(self.deadline, self.one(wanted, &object)).await {
            Ok(attempt) => attempt,
            Err(_elapsed) => {
                Err(ApplyError::Object { object: object.described(), source: TargetError::TimedOut })
            }
        };
        (Key::of(&object), attempt)
    }

    /// One object: what it is like, what is to be written, and that.
    async fn one(&self, wanted: &Wanted, object: &ObjectReference) -> Result<Settled, ApplyError> {
        let failed = |source| ApplyError::Object { object: object.described(), source };
        let kind = self.target.kind(object).map_err(failed)?;
        let rules = self.rules(wanted);
        let manifest = digest(&rules, wanted);
        let observed = self.observe(&kind, wanted, object).await.map_err(failed)?;
        // What it says now is what webhooks may heed at the earliest.
        let namespace = self.target.namespaces.digest(&object.namespace);
        let settle = |live: &Live, is_watched| Settled {
            kind: kind.clone(),
            manifest,
            live: live.digest(),
            namespace,
            is_watched,
        };
        let is_settled = |live: &&Live| self.is_settled(object, &settle(live, true));
        if let Some(live) = observed.as_deref().filter(is_settled) {
            return Ok(settle(live, true));
        }
        let written = self.bring_about(&kind, &rules, wanted, observed.as_deref()).await;
        let written = match written {
            Err(ApplyError::Object { source: TargetError::Api(error), .. })
                if observed.is_none() && is_already_there(&error) =>
            {
                // It is there, and does not bear our label: GRM-MR-028.
                let live = self.target.get(&kind, &object.namespace, &object.name).await;
                let live = live.map_err(|error| failed(TargetError::Api(error)))?;
                self.bring_about(&kind, &rules, wanted, live.as_ref()).await
            }
            written => written,
        }?;
        Ok(settle(&written, !is_ignored(&wanted.object)))
    }

    /// What is known of the object. One that we do not see is made without asking first, unless it is to be left alone.
    async fn observe(
        &self,
        kind: &Kind,
        wanted: &Wanted,
        object: &ObjectReference,
    ) -> Result<Option<Arc<Live>>, TargetError> {
        let (namespace, name) = (&object.namespace, &object.name);
        let found = self.target.find(kind, namespace, name).await?;
        match found {
            Found::Managed(live) => Ok(Some(live)),
            Found::Unmanaged if !is_ignored(&wanted.object) => Ok(None),
            Found::Unmanaged | Found::Unknown => {
                let live = self.target.get(kind, namespace, name).await.map_err(TargetError::Api)?;
                Ok(live.map(Arc::new))
            }
        }
    }

    /// Whether it is as it was when it was in order.
    fn is_settled(&self, object: &ObjectReference, now: &Settled) -> bool {
        let known = self.memory.objects.get(&Key::of(object));
        known.is_some_and(|known| known.is_as(now))
    }

    /// Writes what is to be written.
    async fn bring_about(
        &self,
        kind: &Kind,
        rules: &Rules<'_>,
        wanted: &Wanted,
        live: Option<&Live>,
    ) -> Result<Live, ApplyError> {
        let described = || ObjectReference::to(&wanted.object).described();
        let before = live.map(|live| live.object(&kind.resource));
        let write = write(rules, &wanted.object, before.as_ref(), self.always && !is_ignored(&wanted.object));
        let write = write.map_err(|source| ApplyError::Write { object: described(), source })?;
        let (merged, answer) = match (write, live) {
            (Write::Nothing, live) => return Ok(live.cloned().unwrap_or_default()),
            (Write::Create(object), _) => {
                let created = self.target.create(kind, &object).await;
                if created.is_ok() {
                    tracing::info!(
                        resource = described(),
                        "Created resource because it was not existing before"
                    );
                }
                (None, created)
            }
            (Write::Update(object), _) => {
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
                Err(self.make_room(kind, &ObjectReference::to(&merged), source).await)
            }
            (answer, _) => answer
                .map_err(|error| ApplyError::Object { object: described(), source: TargetError::Api(error) }),
        }
    }

    /// GRM-MR-036 and GRM-MR-037: deletes an object, so that the next pass makes it anew.
    async fn make_room(&self, kind: &Kind, object: &ObjectReference, source: kube::Error) -> ApplyError {
        match self.target.delete(kind, object, false).await {
            Ok(_) => ApplyError::Deleted { object: object.described(), source },
            Err(source) => ApplyError::Delete { object: object.described(), source },
        }
    }

    fn rules<'w>(&'w self, wanted: &'w Wanted) -> Rules<'w> {
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

/// Of a manifest and of what is brought into it. How it was applied before does not count: what is in order was applied
/// with the same manifest.
fn digest(rules: &Rules<'_>, wanted: &Wanted) -> u64 {
    let mut hasher = DefaultHasher::new();
    let Rules { origin, inject, force_overwrite, preserve, .. } = rules;
    (origin, inject, &wanted.object).hash(&mut hasher);
    [force_overwrite.labels, force_overwrite.annotations, preserve.replicas, preserve.resources]
        .hash(&mut hasher);
    hasher.finish()
}
