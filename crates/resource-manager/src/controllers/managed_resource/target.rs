//! The target cluster: caches of its objects, and writes to them.
//!
//! Objects with our label are watched, with one store per kind; other objects are read one by one. A store that lags
//! behind our own writes is not used.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use controller::store::UnknownNamespace;
use controller::{Cluster, Selection, Store};
use kube::api::{DeleteParams, GetParams, Patch, PatchParams, PostParams};
use kube::core::request::Request;
use kube::{Client, Resource as _};
use serde_json::Value;
use tokio::time::timeout;

use super::api_errors::{describe_error, is_kind_absent, is_not_found};
use super::kinds::{Kinds, TargetKind};
use super::live::Live;
use super::namespaces::Namespaces;
use crate::managed_resource::ObjectReference;
use crate::managed_resource::inventory::KindScope;

/// How long to wait for a new store; after that, objects are read one by one.
const STORE_TIMEOUT: Duration = Duration::from_secs(10);

/// How long discovery may take; the original's value.
const DISCOVERY_TIMEOUT: Duration = Duration::from_secs(32);

/// Why an object cannot be read.
#[derive(Debug, thiserror::Error)]
pub(super) enum TargetError {
    /// The manifest has no kind.
    #[error("Object 'Kind' is missing in 'unstructured object has no kind'")]
    NoKind,
    /// The manifest has no apiVersion.
    #[error("Object 'apiVersion' is missing in 'unstructured object has no version'")]
    NoVersion,
    /// The cluster does not serve the kind.
    #[error("no matches for kind {kind:?} in version {api_version:?}")]
    UnknownKind {
        /// Kind.
        kind: String,
        /// Group and version.
        api_version: String,
    },
    /// The instance does not watch the namespace.
    #[error(transparent)]
    Namespace(#[from] UnknownNamespace),
    /// The API server's error.
    #[error("{}", describe_error(.0))]
    Api(#[source] kube::Error),
    /// The API server did not answer in time; the text is the original's.
    #[error("context deadline exceeded")]
    TimedOut,
}

/// What the cache says about an object.
#[derive(Clone, Debug)]
pub(super) enum CachedState {
    /// It has our label.
    Managed(Arc<Live>),
    /// If it exists, it does not have our label.
    Unmanaged,
    /// It must be read from the API server.
    Unknown,
}

/// The state of an object after its deletion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DeletionProgress {
    /// It is gone.
    Gone,
    /// Finalizers or a grace period delay its deletion.
    Pending,
}

/// The target cluster of one instance.
pub(super) struct Target {
    /// Its kinds.
    pub(super) kinds: Kinds,
    /// Its namespaces.
    pub(super) namespaces: Namespaces,
    client: Client,
    cluster: Cluster,
    /// Selector for managed objects.
    label: String,
}

impl Target {
    /// The target; `managed_by` is the value of the label on managed objects.
    #[must_use]
    pub(super) fn new(cluster: &Cluster, managed_by: &str) -> Self {
        let client = cluster.client();
        Self {
            kinds: Kinds::new(client.clone()),
            namespaces: Namespaces::new(cluster),
            client,
            cluster: cluster.clone(),
            label: format!("{}={managed_by}", api::resources::MANAGED_BY),
        }
    }

    /// The client, for objects that are not ours.
    #[must_use]
    pub(super) fn client(&self) -> &Client {
        &self.client
    }

    /// GRM-MR-165: discovers the kinds of references that are unknown.
    ///
    /// # Errors
    /// When discovery fails.
    pub(super) async fn discover_kinds<'a>(
        &self,
        references: impl IntoIterator<Item = &'a ObjectReference>,
    ) -> Result<(), TargetError> {
        let unknown = references.into_iter().filter(|object| self.kind(object).is_err());
        let unknown: BTreeSet<String> = unknown.map(|object| object.api_version.clone()).collect();
        let discovery =
            self.kinds.discover_kinds(unknown.into_iter().filter(|version| !version.is_empty()).collect());
        timeout(DISCOVERY_TIMEOUT, discovery)
            .await
            .map_err(|_elapsed| TargetError::TimedOut)?
            .map_err(TargetError::Api)
    }

    /// The kind of an object.
    ///
    /// # Errors
    /// When it is unknown.
    pub(super) fn kind(&self, object: &ObjectReference) -> Result<Arc<TargetKind>, TargetError> {
        if object.kind.is_empty() {
            return Err(TargetError::NoKind);
        }
        if object.api_version.is_empty() {
            return Err(TargetError::NoVersion);
        }
        self.kinds.get(&object.api_version, &object.kind).ok_or_else(|| TargetError::UnknownKind {
            kind: object.kind.clone(),
            api_version: object.api_version.clone(),
        })
    }

    /// The store of the managed objects of a kind.
    pub(super) fn store<'a>(&self, kind: &'a TargetKind) -> &'a Store<Live> {
        kind.store.get_or_init(|| {
            let selection = Selection::all().labels(self.label.clone()).may_be_absent();
            let selection =
                if kind.scope == KindScope::Cluster { selection.cluster_scoped() } else { selection };
            self.cluster.dynamic_store(&kind.resource, selection)
        })
    }

    /// GRM-MR-029: the cached state of an object.
    ///
    /// # Errors
    /// When the instance does not watch its namespace.
    pub(super) async fn find(
        &self,
        kind: &TargetKind,
        namespace: &str,
        name: &str,
    ) -> Result<CachedState, TargetError> {
        let store = self.store(kind);
        if !store.watches_namespace(namespace) {
            return if is_built_in(&kind.resource.group) {
                Err(store.try_get(namespace, name).err().map_or(TargetError::NoKind, TargetError::from))
            } else {
                Ok(CachedState::Unknown)
            };
        }
        if !is_filled(kind, store).await {
            return Ok(CachedState::Unknown);
        }
        let stored = store.get(namespace, name);
        if kind.unseen_writes.is_ahead(namespace, name, stored.as_deref()) {
            return Ok(CachedState::Unknown);
        }
        Ok(stored.map_or(CachedState::Unmanaged, CachedState::Managed))
    }

    /// Reads an object.
    ///
    /// # Errors
    /// When the API server refuses; an absent object is not an error.
    pub(super) async fn get(
        &self,
        kind: &TargetKind,
        namespace: &str,
        name: &str,
    ) -> Result<Option<Live>, kube::Error> {
        let request = request(kind, namespace).get(name, &GetParams::default());
        match self.client.request::<Live>(request.map_err(kube::Error::BuildRequest)?).await {
            Ok(live) => Ok(Some(live)),
            Err(error) if is_not_found(&error) => {
                if is_kind_absent(&error) {
                    self.kinds.forget(kind);
                }
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Creates an object.
    ///
    /// # Errors
    /// When the API server refuses.
    pub(super) async fn create(&self, kind: &TargetKind, object: &Value) -> Result<Live, kube::Error> {
        let body = object.to_string().into_bytes();
        let namespace = crate::managed_resource::unstructured::namespace(object);
        let request = request(kind, namespace).create(&PostParams::default(), body);
        let created = self.client.request(request.map_err(kube::Error::BuildRequest)?).await;
        self.record_write(kind, created)
    }

    /// Replaces an object.
    ///
    /// # Errors
    /// When the API server refuses.
    pub(super) async fn update(&self, kind: &TargetKind, object: &Value) -> Result<Live, kube::Error> {
        let body = object.to_string().into_bytes();
        let (namespace, name) = {
            use crate::managed_resource::unstructured::{name, namespace};
            (namespace(object), name(object))
        };
        let request = request(kind, namespace).replace(name, &PostParams::default(), body);
        let updated = self.client.request(request.map_err(kube::Error::BuildRequest)?).await;
        self.record_write(kind, updated)
    }

    /// Sends a JSON merge patch.
    ///
    /// # Errors
    /// When the API server refuses.
    pub(super) async fn patch(
        &self,
        kind: &TargetKind,
        object: &ObjectReference,
        patch: &Value,
    ) -> Result<Live, kube::Error> {
        let request = request(kind, &object.namespace);
        let request = request.patch(&object.name, &PatchParams::default(), &Patch::Merge(patch));
        let patched = self.client.request(request.map_err(kube::Error::BuildRequest)?).await;
        self.record_write(kind, patched)
    }

    /// Replaces a Namespace through its subresource `finalize`.
    ///
    /// # Errors
    /// When the API server refuses.
    pub(super) async fn finalize(
        &self,
        kind: &TargetKind,
        object: &ObjectReference,
        namespace: &Value,
    ) -> Result<(), kube::Error> {
        let (request, body) = (request(kind, ""), namespace.to_string().into_bytes());
        let request = request.replace_subresource("finalize", &object.name, &PostParams::default(), body);
        let answer = self.client.request::<Value>(request.map_err(kube::Error::BuildRequest)?).await;
        answer.map(drop)
    }

    /// Deletes an object.
    ///
    /// # Errors
    /// When the API server refuses; an absent object counts as deleted.
    pub(super) async fn delete(
        &self,
        kind: &TargetKind,
        object: &ObjectReference,
        foreground: bool,
    ) -> Result<DeletionProgress, kube::Error> {
        let params = if foreground { DeleteParams::foreground() } else { DeleteParams::default() };
        let request = request(kind, &object.namespace).delete(&object.name, &params);
        let answer: Value = match self.client.request(request.map_err(kube::Error::BuildRequest)?).await {
            Err(error) if is_not_found(&error) => return Ok(DeletionProgress::Gone),
            answer => answer?,
        };
        if is_deletion_pending(&answer) {
            return Ok(DeletionProgress::Pending);
        }
        let details = if answer["kind"] == "Status" { &answer["details"] } else { &answer["metadata"] };
        let uid = details["uid"].as_str().unwrap_or_default();
        kind.unseen_writes.without(&object.namespace, &object.name, uid, kind.store.get());
        Ok(DeletionProgress::Gone)
    }

    /// Records a write, so that a lagging store is recognized.
    fn record_write(
        &self,
        kind: &TargetKind,
        answer: Result<Live, kube::Error>,
    ) -> Result<Live, kube::Error> {
        match &answer {
            Ok(live) => kind.unseen_writes.since(live, kind.store.get()),
            Err(error) if is_kind_absent(error) => self.kinds.forget(kind),
            Err(_) => {}
        }
        answer
    }
}

/// The request for objects of a kind.
fn request(kind: &TargetKind, namespace: &str) -> Request {
    let namespace = (kind.scope == KindScope::Namespaced && !namespace.is_empty()).then_some(namespace);
    Request::new(Live::url_path(&kind.resource, namespace))
}

/// Whether the store of a kind is filled; waits for it once.
async fn is_filled(kind: &TargetKind, store: &Store<Live>) -> bool {
    if store.is_synced() {
        return true;
    }
    if kind.sync_timed_out.load(Ordering::Relaxed) {
        return false;
    }
    let is_filled = timeout(STORE_TIMEOUT, store.wait_until_synced()).await.is_ok();
    kind.sync_timed_out.store(!is_filled, Ordering::Relaxed);
    is_filled
}

/// Whether finalizers or a grace period delay the deletion of an object.
fn is_deletion_pending(answer: &Value) -> bool {
    let metadata = &answer["metadata"];
    let held = |list: &Value| list.as_array().is_some_and(|list| !list.is_empty());
    let waits = metadata["deletionGracePeriodSeconds"].as_i64().is_some_and(|seconds| seconds > 0);
    let deleting = metadata["deletionTimestamp"].is_string();
    answer["kind"] != "Status"
        && deleting
        && (waits || held(&metadata["finalizers"]) || held(&answer["spec"]["finalizers"]))
}

/// Groups of kinds that are built into the original, which reads them through its caches.
fn is_built_in(group: &str) -> bool {
    !group.contains('.') || (group.ends_with(".k8s.io") && group != "autoscaling.k8s.io")
}
