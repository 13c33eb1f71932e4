//! What built-in kinds have by default, as kube-apiserver writes it: tables by API group, and what a table cannot say.

mod computed;
mod notation;
mod table;

use schema::{Resource, Type};
use serde_json::Value;

/// Sets what an object of a built-in kind has by default; a second time changes nothing.
pub(crate) fn set(resource: &Resource, object: &mut Value, ty: &Type) {
    let kind = kind_of(resource);
    computed::before(&kind, object);
    table::apply(&kind, object);
    computed::after(&kind, object);
    notation::normalize(object, ty);
}

/// Sets again what a table says, where the server has taken away what the request said: a new object's status.
pub(crate) fn complete(resource: &Resource, object: &mut Value) {
    table::apply(&kind_of(resource), object);
}

/// `apps/v1 Deployment`, as sections are named.
fn kind_of(resource: &Resource) -> String {
    format!("{} {}", resource.api_version(), resource.kind)
}
