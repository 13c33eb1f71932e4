//! Which kinds the target cluster serves: asked for by group version, when somebody first needs one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use controller::Store;
use kube::Client;
use kube::core::ApiResource;
use parking_lot::Mutex;

use super::api_errors::is_not_found;
use super::live::Live;
use super::written::Written;
use crate::controllers::served::{self, Served};
use crate::managed_resource::inventory::Scope;

/// A kind that is served.
#[derive(Debug)]
pub(super) struct Kind {
    /// How it is asked for.
    pub(super) resource: ApiResource,
    /// Whether its objects live in namespaces.
    pub(super) scope: Scope,
    /// What is managed of it, once somebody asked.
    pub(super) store: OnceLock<Store<Live>>,
    /// Whether the store was waited for in vain, which nobody does twice.
    pub(super) is_given_up: AtomicBool,
    /// What we wrote and the store has not shown yet.
    pub(super) written: Written,
}

/// What is known of the kinds of a cluster.
pub(super) struct Kinds {
    client: Client,
    /// Kinds by name, by group version.
    known: Mutex<BTreeMap<String, BTreeMap<String, Arc<Kind>>>>,
    revision: AtomicU64,
}

impl Kinds {
    /// Nothing is known, and nothing asked.
    #[must_use]
    pub(super) fn new(client: Client) -> Self {
        Self { client, known: Mutex::default(), revision: AtomicU64::default() }
    }

    /// The kind, if it is known.
    #[must_use]
    pub(super) fn get(&self, api_version: &str, kind: &str) -> Option<Arc<Kind>> {
        self.known.lock().get(api_version)?.get(kind).cloned()
    }

    /// Rises whenever something else is known.
    #[must_use]
    pub(super) fn revision(&self) -> u64 {
        self.revision.load(Ordering::Relaxed)
    }

    /// GRM-MR-151: asks for the kinds of group versions, each once. One that is not served has none.
    ///
    /// # Errors
    /// When the cluster does not say; the first of them.
    pub(super) async fn learn(&self, api_versions: BTreeSet<String>) -> Result<(), kube::Error> {
        for api_version in api_versions {
            let served = self.ask(&api_version).await?;
            let mut known = self.known.lock();
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

    /// A kind seems not to be served any more: it is asked for again when it is needed.
    pub(super) fn forget(&self, kind: &Kind) {
        let mut known = self.known.lock();
        let served = known.get_mut(&kind.resource.api_version);
        if served.is_some_and(|served| served.remove(&kind.resource.kind).is_some()) {
            self.revision.fetch_add(1, Ordering::Relaxed);
        }
    }

    async fn ask(&self, api_version: &str) -> Result<BTreeMap<String, Kind>, kube::Error> {
        match served::kinds(&self.client, api_version).await {
            Ok(kinds) => Ok(kinds.into_iter().map(|(name, served)| (name, Kind::of(served))).collect()),
            Err(error) if is_not_found(&error) => Ok(BTreeMap::new()),
            Err(error) => Err(error),
        }
    }
}

impl Kind {
    fn of(Served { resource, scope }: Served) -> Self {
        Self {
            resource,
            scope,
            store: OnceLock::new(),
            is_given_up: AtomicBool::new(false),
            written: Written::default(),
        }
    }

    /// The digest of what the store shows of an object, if it can be believed.
    #[must_use]
    pub(super) fn digest(&self, namespace: &str, name: &str) -> Option<u64> {
        let store = self.store.get().filter(|store| store.is_synced())?;
        let stored = store.get(namespace, name)?;
        (!self.written.is_ahead(namespace, name, Some(&stored))).then(|| stored.digest())
    }

    fn is_same(&self, other: &Self) -> bool {
        self.scope == other.scope && self.resource == other.resource
    }
}
