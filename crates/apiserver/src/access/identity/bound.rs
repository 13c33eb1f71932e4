//! The objects that a token is bound to: the token becomes invalid when they are deleted.

use serde_json::Value;

use crate::access::tokens::Reference;
use crate::call;
use crate::http::status::{GroupResource, Status};
use crate::object::meta;
use crate::state::ServerState;

/// The objects that a token is bound to, beside its account.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct BoundObjects {
    /// The pod.
    pub(crate) pod: Option<Reference>,
    /// The pod's node, or the node itself.
    pub(crate) node: Option<Reference>,
    /// The secret.
    pub(crate) secret: Option<Reference>,
}

/// Looks up the object of a `boundObjectRef`, for a token of the account `name`.
pub(crate) fn bound_object(
    shared: &ServerState,
    namespace: &str,
    name: &str,
    reference: &Value,
) -> Result<BoundObjects, Status> {
    let text = |field: &str| reference.get(field).and_then(Value::as_str).unwrap_or_default();
    let object = ObjectReference { namespace, kind: text("kind"), name: text("name"), uid: text("uid") };
    match (text("apiVersion"), text("kind")) {
        ("v1", "Pod") => {
            let pod = object.find(shared, "pods", true)?;
            if pod.pointer("/spec/serviceAccountName").and_then(Value::as_str).unwrap_or_default() != name {
                return Err(Status::bad_request(format!(
                    "cannot bind token for serviceaccount {name:?} to pod running with different serviceaccount name."
                )));
            }
            let node = pod.pointer("/spec/nodeName").and_then(Value::as_str).filter(|name| !name.is_empty());
            let node = node.map(|name| {
                let node = shared.store.get("nodes", name);
                let uid = node.map(|node| meta::text(node.value(), "uid").to_owned()).unwrap_or_default();
                Reference { name: name.to_owned(), uid }
            });
            Ok(BoundObjects { pod: Some(reference_to(&pod)), node, secret: None })
        }
        ("v1", "Secret") => {
            let secret = object.find(shared, "secrets", true)?;
            Ok(BoundObjects { secret: Some(reference_to(&secret)), ..BoundObjects::default() })
        }
        ("v1", "Node") => {
            let node = object.find(shared, "nodes", false)?;
            Ok(BoundObjects { node: Some(reference_to(&node)), ..BoundObjects::default() })
        }
        (api_version, kind) => {
            let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
            Err(Status::bad_request(format!(
                "cannot bind token to object of type {group}/{version}, Kind={kind}"
            )))
        }
    }
}

struct ObjectReference<'a> {
    namespace: &'a str,
    kind: &'a str,
    name: &'a str,
    uid: &'a str,
}

impl ObjectReference<'_> {
    fn find(&self, shared: &ServerState, table: &str, namespaced: bool) -> Result<Value, Status> {
        let key = call::key(namespaced, self.namespace, self.name);
        let object = shared.store.get(table, &key);
        let of = GroupResource { group: "", resource: table };
        let object = object.ok_or_else(|| Status::not_found(of, self.name))?.value().clone();
        if !self.uid.is_empty() && self.uid != meta::text(&object, "uid") {
            let why = format!(
                "the UID in the bound object reference ({}) does not match the UID in record. The object might have \
                 been deleted and then recreated",
                self.uid
            );
            return Err(Status::conflict(GroupResource { group: "", resource: self.kind }, self.name, &why));
        }
        Ok(object)
    }
}

fn reference_to(object: &Value) -> Reference {
    Reference { name: meta::name(object).to_owned(), uid: meta::text(object, "uid").to_owned() }
}
