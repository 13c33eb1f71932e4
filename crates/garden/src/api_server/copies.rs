//! Copies of the objects of the kube-apiserver that admission plugins and the server read: what informers give the original.

use std::time::Duration;

use apiserver::ApiServer;
use futures::TryStreamExt as _;
use kube::Client;
use kube::api::{Api, ApiResource, DynamicObject, ListParams, WatchEvent, WatchParams};
use kube::core::GroupVersionKind;
use serde_json::Value;
use tokio::sync::watch;

/// The kinds of the core group that are copied, with their plurals.
const KINDS: [(&str, &str); 3] =
    [("Namespace", "namespaces"), ("Secret", "secrets"), ("ConfigMap", "configmaps")];
/// How long to wait after a failure.
const PAUSE: Duration = Duration::from_secs(1);
/// How long a watch lasts at most, in seconds.
const WATCH_SECONDS: u32 = 290;

/// The copying of all kinds; dropping it ends it.
#[derive(Debug)]
pub struct Copying {
    _tasks: tokio::task::JoinSet<()>,
    complete: watch::Receiver<usize>,
}

impl Copying {
    /// Starts to copy what the client's server stores.
    #[must_use]
    pub fn start(client: &Client, server: &ApiServer) -> Self {
        let (listed, complete) = watch::channel(0);
        let mut tasks = tokio::task::JoinSet::new();
        for (kind, plural) in KINDS {
            let resource = ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk("", "v1", kind), plural);
            let api = Api::all_with(client.clone(), &resource);
            let copied = Copied { api, kind, plural, server: server.clone() };
            tasks.spawn(copied.follow(listed.clone()));
        }
        Self { _tasks: tasks, complete }
    }

    /// Waits until each kind has been copied once. What fails is logged and tried again.
    pub async fn wait_until_complete(&mut self) {
        // The sender lives as long as the tasks.
        let _complete = self.complete.wait_for(|listed| *listed == KINDS.len()).await.is_ok();
    }
}

/// A kind that is copied.
struct Copied {
    api: Api<DynamicObject>,
    kind: &'static str,
    plural: &'static str,
    server: ApiServer,
}

impl Copied {
    async fn follow(self, listed: watch::Sender<usize>) {
        let mut is_listed = false;
        loop {
            let failure = match self.list().await {
                Ok(version) => {
                    if !is_listed {
                        listed.send_modify(|count| *count += 1);
                        is_listed = true;
                    }
                    self.watch(version).await
                }
                Err(error) => error,
            };
            let error = controller::describe_error(&failure);
            tracing::warn!(error, resource = self.plural, "failed to follow objects, listing them again");
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Copies all objects; returns the list's version.
    async fn list(&self) -> Result<String, kube::Error> {
        let found = self.api.list(&ListParams::default()).await?;
        let objects: Vec<Value> = found.items.iter().filter_map(|object| self.value(object)).collect();
        self.server.replace_copies(self.plural, &objects);
        Ok(found.metadata.resource_version.unwrap_or_default())
    }

    /// Copies changes until the watch fails.
    async fn watch(&self, mut version: String) -> kube::Error {
        loop {
            if let Err(error) = self.watch_once(&mut version).await {
                return error;
            }
        }
    }

    async fn watch_once(&self, version: &mut String) -> Result<(), kube::Error> {
        let params = WatchParams::default().timeout(WATCH_SECONDS);
        let mut events = std::pin::pin!(self.api.watch(&params, version).await?);
        while let Some(event) = events.try_next().await? {
            let object = match event {
                WatchEvent::Added(object) | WatchEvent::Modified(object) => {
                    if let Some(value) = self.value(&object) {
                        self.server.keep_copy(self.plural, &value);
                    }
                    object
                }
                WatchEvent::Deleted(object) => {
                    let metadata = &object.metadata;
                    let (namespace, name) = (metadata.namespace.as_deref(), metadata.name.as_deref());
                    let (namespace, name) = (namespace.unwrap_or_default(), name.unwrap_or_default());
                    self.server.drop_copy(self.plural, namespace, name);
                    object
                }
                WatchEvent::Bookmark(bookmark) => {
                    *version = bookmark.metadata.resource_version;
                    continue;
                }
                WatchEvent::Error(status) => return Err(kube::Error::Api(status)),
            };
            if let Some(reached) = object.metadata.resource_version {
                *version = reached;
            }
        }
        Ok(())
    }

    /// The object as JSON; items of lists lack version and kind.
    fn value(&self, object: &DynamicObject) -> Option<Value> {
        match serde_json::to_value(object) {
            Ok(mut value) => {
                value["apiVersion"] = "v1".into();
                value["kind"] = self.kind.into();
                Some(value)
            }
            Err(error) => {
                tracing::error!(%error, resource = self.plural, "failed to copy an object");
                None
            }
        }
    }
}
