//! Events as scenarios name them, `event/<object>.<Reason>`, since their real names are generated.

use contract::scenario::ObjectRef;
use kube::Client;
use kube::api::{Api, ApiResource, DeleteParams, DynamicObject, GroupVersionKind, ListParams};
use serde_json::Value;

/// The latest event about an object for a reason; `None` if there is none.
pub(super) async fn read(client: Client, named: &ObjectRef) -> Result<Option<Value>, String> {
    let events = api(client, &named.namespace)
        .list(&ListParams::default())
        .await
        .map_err(|error| error.to_string())?;
    let matching = events.items.into_iter().filter(|event| name(&event.data).as_deref() == Some(&named.name));
    let last = matching.max_by_key(|event| event.data["lastTimestamp"].as_str().map(str::to_owned));
    last.map(|event| serde_json::to_value(event).map_err(|error| error.to_string())).transpose()
}

/// Deletes all events of a namespace.
pub(super) async fn delete_all(client: Client, namespace: &str) -> Result<(), String> {
    let deleted =
        api(client, namespace).delete_collection(&DeleteParams::default(), &ListParams::default()).await;
    deleted.map(drop).map_err(|error| format!("failed to delete events of {namespace}: {error}"))
}

fn api(client: Client, namespace: &str) -> Api<DynamicObject> {
    let kind = ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk("", "v1", "Event"), "events");
    Api::namespaced_with(client, namespace, &kind)
}

/// `<object>.<Reason>` of an event.
pub(super) fn name(event: &Value) -> Option<String> {
    let object = event["involvedObject"]["name"].as_str()?;
    Some(format!("{object}.{}", event["reason"].as_str()?))
}
