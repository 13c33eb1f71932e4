//! Events as scenarios name them: `event/<object>.<Reason>`, as nobody knows their own names beforehand.

use contract::scenario::ObjectRef;
use kube::Client;
use kube::api::{Api, ApiResource, DynamicObject, GroupVersionKind, ListParams};
use serde_json::Value;

/// The event about an object, for a reason, that was told last; absent where there is none.
pub(super) async fn read(client: Client, named: &ObjectRef) -> Result<Option<Value>, String> {
    let kind = ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk("", "v1", "Event"), "events");
    let api: Api<DynamicObject> = Api::namespaced_with(client, &named.namespace, &kind);
    let events = api.list(&ListParams::default()).await.map_err(|error| error.to_string())?;
    let told = events.items.into_iter().filter(|event| name(&event.data).as_deref() == Some(&named.name));
    let last = told.max_by_key(|event| event.data["lastTimestamp"].as_str().map(str::to_owned));
    last.map(|event| serde_json::to_value(event).map_err(|error| error.to_string())).transpose()
}

fn name(event: &Value) -> Option<String> {
    let object = event["involvedObject"]["name"].as_str()?;
    Some(format!("{object}.{}", event["reason"].as_str()?))
}
