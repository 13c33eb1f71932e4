//! kube-apiserver's defaults of built-in kinds: tables for each API group, and code for what a table cannot express.

mod computed;
mod notation;
mod table;

use schema::{Resource, Type};
use serde_json::Value;

/// Sets the defaults of a built-in kind; applying it twice changes nothing more.
pub(crate) fn set(resource: &Resource, object: &mut Value, ty: &Type) {
    let kind = kind_of(resource);
    computed::before(&kind, object);
    table::apply(&kind, object);
    computed::after(&kind, object);
    notation::normalize(object, ty);
}

/// Applies the table again after the server has replaced the status of a new object.
pub(crate) fn complete(resource: &Resource, object: &mut Value) {
    table::apply(&kind_of(resource), object);
}

/// `apps/v1 Deployment`, the name of a section.
fn kind_of(resource: &Resource) -> String {
    format!("{} {}", resource.api_version(), resource.kind)
}
