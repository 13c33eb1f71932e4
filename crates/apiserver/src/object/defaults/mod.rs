//! kube-apiserver's defaults of built-in kinds: tables for each API group, and code for what a table cannot express.

mod computed;
mod notation;
mod table;

use schema::{Resource, Type};
use serde_json::Value;

use crate::convert::{self, retired};

/// Sets the defaults of a built-in kind; applying it twice changes nothing more. A version that newer releases do not
/// serve has the defaults of its successor.
pub(crate) fn set(resource: &Resource, object: &mut Value, ty: &Type) {
    if let Some(successor) = retired::successor(resource) {
        let mut newer = convert::into_version(object.take(), &successor);
        set_own(&successor, &mut newer);
        *object = convert::into_version(newer, resource);
    } else {
        set_own(resource, object);
    }
    notation::normalize(object, ty);
}

fn set_own(resource: &Resource, object: &mut Value) {
    let kind = kind_of(resource);
    computed::before(&kind, object);
    table::apply(&kind, object);
    computed::after(&kind, object);
}

/// Applies the table again after the server has replaced the status of a new object.
pub(crate) fn complete(resource: &Resource, object: &mut Value) {
    let Some(successor) = retired::successor(resource) else {
        return table::apply(&kind_of(resource), object);
    };
    let mut newer = convert::into_version(object.take(), &successor);
    table::apply(&kind_of(&successor), &mut newer);
    *object = convert::into_version(newer, resource);
}

/// `apps/v1 Deployment`, the name of a section.
fn kind_of(resource: &Resource) -> String {
    format!("{} {}", resource.api_version(), resource.kind)
}
