//! Validates built-in kinds: tables for each API group, and checks with code. Objects of a version that newer releases
//! do not serve are validated as those of its successor.

mod check;
mod check_text;
mod named;
mod table;

use schema::Resource;
use serde_json::Value;
use webhook::field::Error;

use crate::convert::{self, retired};
use check::FieldValue;

/// The errors of a new object.
pub(super) fn new_object(resource: &Resource, object: &Value) -> Vec<Error> {
    if let Some(successor) = retired::successor(resource) {
        return new_object(&successor, &convert::to_version(object, &successor));
    }
    table::errors(&section(resource), &FieldValue::root(object, None))
}

/// The errors of an updated object.
pub(super) fn changed_object(resource: &Resource, object: &Value, old: &Value) -> Vec<Error> {
    if let Some(successor) = retired::successor(resource) {
        let [object, old] = [object, old].map(|object| convert::to_version(object, &successor));
        return changed_object(&successor, &object, &old);
    }
    let (section, field) = (section(resource), FieldValue::root(object, Some(old)));
    let mut errors = table::errors(&format!("before {section}"), &field);
    errors.extend(table::errors(&section, &field));
    errors.extend(table::errors(&format!("changed {section}"), &field));
    errors
}

/// The errors of the requested addresses.
pub(super) fn addresses(resource: &Resource, object: &Value, old: Option<&Value>) -> Vec<Error> {
    table::errors(&format!("addresses {}", section(resource)), &FieldValue::root(object, old))
}

/// The errors of an updated status.
pub(super) fn changed_status(resource: &Resource, object: &Value, old: &Value) -> Vec<Error> {
    if let Some(successor) = retired::successor(resource) {
        let [object, old] = [object, old].map(|object| convert::to_version(object, &successor));
        return changed_status(&successor, &object, &old);
    }
    table::errors(&format!("status {}", section(resource)), &FieldValue::root(object, Some(old)))
}

fn section(resource: &Resource) -> String {
    format!("{} {}", resource.api_version(), resource.kind)
}
