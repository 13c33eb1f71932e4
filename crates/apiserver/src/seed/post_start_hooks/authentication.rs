//! ConfigMap `extension-apiserver-authentication`: tells extension API servers the authorities of users' client certificates
//! and of front proxies.

use serde_json::{Map, Value};

use crate::access::authentication::{ClientAuthority, RequestHeaders};
use crate::aggregation::front_proxy;
use crate::authority::Authority;
use crate::state::ServerState;

/// The ConfigMap's name.
const NAME: &str = "extension-apiserver-authentication";

/// Sets the data of the ConfigMap for this server; does not change other objects.
pub(super) fn fill(shared: &ServerState, object: &mut Value) {
    if object["kind"] != "ConfigMap" || object["metadata"]["name"] != NAME {
        return;
    }
    let data = data(shared);
    let owned = "/metadata/managedFields/0/fieldsV1/f:data";
    if let Some(owned) = object.pointer_mut(owned).and_then(Value::as_object_mut) {
        owned.retain(|field, _| field == "." || data.contains_key(field.trim_start_matches("f:")));
    }
    object["data"] = data.into();
}

fn data(shared: &ServerState) -> Map<String, Value> {
    let mut data = Map::new();
    // If an authority cannot be made, serving and connecting report the error.
    let clients = match &shared.authentication.clients {
        ClientAuthority::Own => Some(shared.authority.get().map(Authority::pem).unwrap_or_default()),
        ClientAuthority::None => None,
        ClientAuthority::Bundle(pem) => Some(pem.clone()),
    };
    if let Some(pem) = clients {
        data.insert("client-ca-file".to_owned(), pem.into());
    }
    let Some(proxies) = proxies(shared) else { return data };
    let lists = [
        ("allowed-names", &proxies.allowed_names),
        ("extra-headers-prefix", &proxies.extra_prefixes),
        ("group-headers", &proxies.groups),
        ("username-headers", &proxies.username),
    ];
    for (name, list) in lists {
        data.insert(format!("requestheader-{name}"), Value::from(list.clone()).to_string().into());
    }
    if !proxies.uid.is_empty() {
        let list = Value::from(proxies.uid.clone()).to_string();
        data.insert("requestheader-uid-headers".to_owned(), list.into());
    }
    data.insert("requestheader-client-ca-file".to_owned(), proxies.authorities.into());
    data
}

/// The given front proxies; by default the server itself.
fn proxies(shared: &ServerState) -> Option<RequestHeaders> {
    if let Some(proxies) = &shared.authentication.request_headers {
        return Some(proxies.clone());
    }
    let authorities = shared.front_proxy.own_authority().unwrap_or_default()?.to_owned();
    let one = |text: &str| vec![text.to_owned()];
    Some(RequestHeaders {
        authorities,
        allowed_names: one(front_proxy::NAME),
        username: one("X-Remote-User"),
        groups: one("X-Remote-Group"),
        extra_prefixes: one("X-Remote-Extra-"),
        uid: Vec::new(),
    })
}
