//! Watches one object during a step.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use contract::scenario::{ObjectRef, Side};
use futures::StreamExt as _;
use kube::api::{Api, ApiResource, DynamicObject, ListParams, WatchEvent, WatchParams};
use serde_json::Value;
use substrate::cluster::resource;
use tokio::task::JoinHandle;

use super::clusters::{Clusters, head};
use super::events;
use super::steps::ScenarioEnd;

/// Pause before a watch that ended is started again.
const PAUSE: Duration = Duration::from_millis(100);

/// The states that a watch has delivered.
#[derive(Debug, Default)]
struct WatchLog {
    /// In order; `None`: the object was deleted.
    states: Vec<Option<Value>>,
    /// Why the watch broke.
    broken: Option<String>,
}

/// Watches one object; dropping it ends the watch.
pub(super) struct ObjectWatch {
    log: Arc<Mutex<WatchLog>>,
    task: JoinHandle<()>,
}

impl ObjectWatch {
    /// Starts to watch an object.
    pub(super) async fn start(
        clusters: &Clusters,
        side: Side,
        object: &ObjectRef,
    ) -> Result<Self, ScenarioEnd> {
        let failed = |reason: String| ScenarioEnd::Environment(format!("failed to watch {object}: {reason}"));
        let served = resource(&head(object)).map_err(|error| failed(error.to_string()))?;
        let kind = ApiResource {
            group: served.group.clone(),
            version: served.version.clone(),
            api_version: served.api_version(),
            kind: served.kind.clone(),
            plural: served.plural.clone(),
        };
        let client = clusters.client(side);
        let api: Api<DynamicObject> = if served.namespaced {
            Api::namespaced_with(client, &object.namespace, &kind)
        } else {
            Api::all_with(client, &kind)
        };
        let named = NamedObject::of(object);
        let list = api.list(&named.list_params()).await;
        let version = list.map_err(|error| failed(error.to_string()))?.metadata.resource_version;
        let log = Arc::new(Mutex::new(WatchLog::default()));
        let (kept, name) = (Arc::clone(&log), object.to_string());
        let task = tokio::spawn(async move {
            let error = follow(api, &named, version.unwrap_or_default(), &kept).await;
            kept.lock().unwrap_or_else(PoisonError::into_inner).broken =
                Some(format!("failed to watch {name}: {error}"));
        });
        Ok(Self { log, task })
    }

    /// Number of states so far.
    pub(super) fn count(&self) -> usize {
        let log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        log.states.len() + usize::from(log.broken.is_some())
    }

    /// The states so far, in order; `None`: the object was deleted.
    ///
    /// # Errors
    /// If the watch broke, which says nothing about the target.
    pub(super) fn states(&self) -> Result<Vec<Option<Value>>, ScenarioEnd> {
        let log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        match &log.broken {
            Some(reason) => Err(ScenarioEnd::Environment(reason.clone())),
            None => Ok(log.states.clone()),
        }
    }
}

/// Which objects a name means.
enum NamedObject {
    /// The object with this name.
    Named(String),
    /// The events with this `<object>.<Reason>`, whose own names are generated.
    Event(String),
}

impl NamedObject {
    fn of(object: &ObjectRef) -> Self {
        let name = object.name.clone();
        if object.kind == "Event" { Self::Event(name) } else { Self::Named(name) }
    }

    /// The field selector; `None` if the server cannot select by it.
    fn field(&self) -> Option<String> {
        match self {
            Self::Named(name) => Some(format!("metadata.name={name}")),
            Self::Event(_) => None,
        }
    }

    fn list_params(&self) -> ListParams {
        ListParams { field_selector: self.field(), ..ListParams::default() }
    }

    fn watch_params(&self) -> WatchParams {
        WatchParams { field_selector: self.field(), ..WatchParams::default() }
    }

    /// Whether an object that was delivered is meant.
    fn is_meant(&self, object: &DynamicObject) -> bool {
        match self {
            Self::Named(_) => true,
            Self::Event(name) => events::name(&object.data).as_ref() == Some(name),
        }
    }
}

/// Adds states to the log; resumes a watch that ends, as each does after minutes. Returns why it cannot.
async fn follow(
    api: Api<DynamicObject>,
    named: &NamedObject,
    mut version: String,
    log: &Mutex<WatchLog>,
) -> kube::Error {
    let params = named.watch_params();
    loop {
        let mut stream = match api.watch(&params, &version).await {
            Ok(stream) => stream.boxed(),
            Err(error) => return error,
        };
        while let Some(event) = stream.next().await {
            let (object, gone) = match event {
                Ok(WatchEvent::Added(object) | WatchEvent::Modified(object)) => (object, false),
                Ok(WatchEvent::Deleted(object)) => (object, true),
                Ok(WatchEvent::Bookmark(_)) => continue,
                Ok(WatchEvent::Error(status)) => return kube::Error::Api(status),
                Err(error) => return error,
            };
            version = object.metadata.resource_version.clone().unwrap_or(version);
            if !named.is_meant(&object) {
                continue;
            }
            let state = if gone { None } else { serde_json::to_value(object).ok() };
            log.lock().unwrap_or_else(PoisonError::into_inner).states.push(state);
        }
        tokio::time::sleep(PAUSE).await;
    }
}

impl Drop for ObjectWatch {
    fn drop(&mut self) {
        self.task.abort();
    }
}
