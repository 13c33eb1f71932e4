//! Objects with generated names, which scenarios name by what they begin with: `controllerinstallation/aws-*`.

use contract::scenario::ObjectRef;
use kube::Client;
use kube::api::{Api, ApiResource, DynamicObject, ListParams};
use serde_json::Value;
use substrate::cluster::resource;

use super::clusters::head;

/// What the name begins with, if the server generates it.
pub(super) fn prefix(object: &ObjectRef) -> Option<&str> {
    object.name.strip_suffix('*')
}

/// Whether a name is the scenario's, or begins as that says. The name of a created object is not known yet.
pub(super) fn is_name(wanted: &ObjectRef, name: &str) -> bool {
    match prefix(wanted) {
        Some(prefix) => name.is_empty() || name.starts_with(prefix),
        None => wanted.name == name,
    }
}

/// The object whose name has this prefix; `None` if none has.
///
/// # Errors
/// If there are several, or they cannot be listed.
pub(super) async fn read(client: Client, object: &ObjectRef) -> Result<Option<Value>, String> {
    let served = resource(&head(object)).map_err(|error| error.to_string())?;
    let kind = ApiResource {
        group: served.group.clone(),
        version: served.version.clone(),
        api_version: served.api_version(),
        kind: served.kind.clone(),
        plural: served.plural.clone(),
    };
    let api: Api<DynamicObject> = if served.namespaced {
        Api::namespaced_with(client, &object.namespace, &kind)
    } else {
        Api::all_with(client, &kind)
    };
    let listed = api.list(&ListParams::default()).await.map_err(|error| error.to_string())?;
    let found = listed
        .items
        .into_iter()
        .filter(|item| item.metadata.name.as_deref().is_some_and(|name| is_name(object, name)));
    let mut found: Vec<DynamicObject> = found.collect();
    if found.len() > 1 {
        let names: Vec<String> = found.into_iter().filter_map(|item| item.metadata.name).collect();
        return Err(format!("there are several: {}", names.join(", ")));
    }
    found.pop().map(|item| serde_json::to_value(item).map_err(|error| error.to_string())).transpose()
}
