//! Kinds that the target cluster serves: discovered by group version when first needed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use controller::Store;
use kube::Client;
use kube::core::{ApiResource, GroupVersionKind};
use parking_lot::Mutex;

use super::api_errors::is_not_found;
use super::live::Live;
use super::unseen_writes::UnseenWrites;
use crate::controllers::served::{self, ServedKind};
use crate::managed_resource::inventory::KindScope;

/// A served kind.
#[derive(Debug)]
pub(super) struct TargetKind {
    /// Its API.
    pub(super) resource: ApiResource,
    /// Whether it is namespaced.
    pub(super) scope: KindScope,
    /// The store of its managed objects, created when first needed.
    pub(super) store: OnceLock<Store<Live>>,
    /// Whether waiting for the store timed out, so that it is not awaited again.
    pub(super) sync_timed_out: AtomicBool,
    /// Our writes that the store does not contain yet.
    pub(super) unseen_writes: UnseenWrites,
}

/// The discovered kinds of a cluster.
pub(super) struct Kinds {
    client: Client,
    /// Kinds by name, by group version.
    by_group_version: Mutex<BTreeMap<String, BTreeMap<String, Arc<TargetKind>>>>,
    revision: AtomicU64,
}

impl Kinds {
    /// Sends no request yet.
    #[must_use]
    pub(super) fn new(client: Client) -> Self {
        Self { client, by_group_version: Mutex::default(), revision: AtomicU64::default() }
    }

    /// The kind, if it was discovered.
    #[must_use]
    pub(super) fn get(&self, api_version: &str, kind: &str) -> Option<Arc<TargetKind>> {
        self.by_group_version.lock().get(api_version)?.get(kind).cloned()
    }

    /// The scope of a kind, if it was discovered.
    #[must_use]
    pub(super) fn scope(&self, kind: &GroupVersionKind) -> Option<KindScope> {
        self.get(&kind.api_version(), &kind.kind).map(|kind| kind.scope)
    }

    /// Increases when the discovered kinds change.
    #[must_use]
    pub(super) fn revision(&self) -> u64 {
        self.revision.load(Ordering::Relaxed)
    }

    /// GRM-MR-151: discovers the kinds of group versions, one request each. A group version that is not served has
    /// none.
    ///
    /// # Errors
    /// The first failed request.
    pub(super) async fn discover_kinds(&self, api_versions: BTreeSet<String>) -> Result<(), kube::Error> {
        for api_version in api_versions {
            let served = self.request_kinds(&api_version).await?;
            let mut known = self.by_group_version.lock();
            let before = known.entry(api_version).or_default();
            if !before.keys().eq(served.keys()) {
                // A kind that is served as before keeps its store.
                let merged = served.into_iter().map(|(name, kind)| match before.get(&name) {
                    Some(old) if old.is_same(&kind) => (name, old.clone()),
                    _ => (name, Arc::new(kind)),
                });
                *before = merged.collect();
                self.revision.fetch_add(1, Ordering::Relaxed);
            }
        }
        Ok(())
    }

    /// Forgets a kind that seems to be no longer served; it is discovered again when needed.
    pub(super) fn forget(&self, kind: &TargetKind) {
        let mut known = self.by_group_version.lock();
        let served = known.get_mut(&kind.resource.api_version);
        if served.is_some_and(|served| served.remove(&kind.resource.kind).is_some()) {
            self.revision.fetch_add(1, Ordering::Relaxed);
        }
    }

    async fn request_kinds(&self, api_version: &str) -> Result<BTreeMap<String, TargetKind>, kube::Error> {
        match served::kinds(&self.client, api_version).await {
            Ok(kinds) => Ok(kinds.into_iter().map(|(name, served)| (name, TargetKind::of(served))).collect()),
            Err(error) if is_not_found(&error) => Ok(BTreeMap::new()),
            Err(error) => Err(error),
        }
    }
}

impl TargetKind {
    fn of(ServedKind { resource, scope }: ServedKind) -> Self {
        Self {
            resource,
            scope,
            store: OnceLock::new(),
            sync_timed_out: AtomicBool::new(false),
            unseen_writes: UnseenWrites::default(),
        }
    }

    /// The digest of the object in the store, unless the store lags behind our writes.
    #[must_use]
    pub(super) fn digest(&self, namespace: &str, name: &str) -> Option<u64> {
        let store = self.store.get().filter(|store| store.is_synced())?;
        let stored = store.get(namespace, name)?;
        (!self.unseen_writes.is_ahead(namespace, name, Some(&stored))).then(|| stored.digest())
    }

    fn is_same(&self, other: &Self) -> bool {
        self.scope == other.scope && self.resource == other.resource
    }
}
