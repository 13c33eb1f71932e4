//! What a watcher sees of one object while a step goes on.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use contract::scenario::{ObjectRef, Side};
use futures::StreamExt as _;
use kube::api::{Api, ApiResource, DynamicObject, ListParams, WatchEvent, WatchParams};
use serde_json::Value;
use substrate::cluster::resource;
use tokio::task::JoinHandle;

use super::clusters::{Clusters, OTHER_USER, head};
use super::steps::Ended;

/// How long after its end a watch is begun again.
const PAUSE: Duration = Duration::from_millis(100);

/// What was seen so far, in order; absent: it was deleted.
type States = Arc<Mutex<Vec<Option<Value>>>>;

/// Follows one object; dropping it ends the watch.
pub(super) struct Seen {
    states: States,
    task: JoinHandle<()>,
}

impl Seen {
    /// Follows an object from now on.
    pub(super) async fn follow(clusters: &Clusters, side: Side, object: &ObjectRef) -> Result<Self, Ended> {
        let failed = |reason: String| Ended::Environment(format!("failed to watch {object}: {reason}"));
        let served = resource(&head(object)).map_err(|error| failed(error.to_string()))?;
        let kind = ApiResource {
            group: served.group.clone(),
            version: served.version.clone(),
            api_version: served.api_version(),
            kind: served.kind.clone(),
            plural: served.plural.clone(),
        };
        let client = clusters.server(side).client_as(OTHER_USER);
        let api: Api<DynamicObject> = if served.namespaced {
            Api::namespaced_with(client, &object.namespace, &kind)
        } else {
            Api::all_with(client, &kind)
        };
        let field = format!("metadata.name={}", object.name);
        let list = api.list(&ListParams::default().fields(&field)).await;
        let version = list.map_err(|error| failed(error.to_string()))?.metadata.resource_version;
        let states = Arc::new(Mutex::new(Vec::new()));
        let task = tokio::spawn(follow(api, field, version.unwrap_or_default(), Arc::clone(&states)));
        Ok(Self { states, task })
    }

    /// What was seen so far, in order; absent: it was deleted.
    pub(super) fn states(&self) -> Vec<Option<Value>> {
        self.states.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Adds what is seen; a watch that ends, as each does after minutes, goes on where it ended.
async fn follow(api: Api<DynamicObject>, field: String, mut version: String, states: States) {
    let params = WatchParams::default().fields(&field);
    loop {
        let Ok(stream) = api.watch(&params, &version).await else { break };
        let mut stream = stream.boxed();
        while let Some(Ok(event)) = stream.next().await {
            let (object, gone) = match event {
                WatchEvent::Added(object) | WatchEvent::Modified(object) => (object, false),
                WatchEvent::Deleted(object) => (object, true),
                WatchEvent::Bookmark(_) | WatchEvent::Error(_) => continue,
            };
            version = object.metadata.resource_version.clone().unwrap_or(version);
            let state = if gone { None } else { serde_json::to_value(object).ok() };
            states.lock().unwrap_or_else(PoisonError::into_inner).push(state);
        }
        tokio::time::sleep(PAUSE).await;
    }
}

impl Drop for Seen {
    fn drop(&mut self) {
        self.task.abort();
    }
}
