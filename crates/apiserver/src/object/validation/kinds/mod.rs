//! What holds for built-in kinds: tables by API group, and checks that a table names.

mod check;
mod named;
mod table;

use schema::Resource;
use serde_json::Value;
use webhook::field::Error;

use check::Found;

/// What is wrong with a new object.
pub(super) fn new_object(resource: &Resource, object: &Value) -> Vec<Error> {
    table::errors(&section(resource), &Found::root(object, None))
}

/// What is wrong with a changed object.
pub(super) fn changed_object(resource: &Resource, object: &Value, old: &Value) -> Vec<Error> {
    let (section, found) = (section(resource), Found::root(object, Some(old)));
    let mut errors = table::errors(&format!("before {section}"), &found);
    errors.extend(table::errors(&section, &found));
    errors.extend(table::errors(&format!("changed {section}"), &found));
    errors
}

/// What is wrong with the addresses that an object names.
pub(super) fn addresses(resource: &Resource, object: &Value, old: Option<&Value>) -> Vec<Error> {
    table::errors(&format!("addresses {}", section(resource)), &Found::root(object, old))
}

/// What is wrong with a changed status.
pub(super) fn changed_status(resource: &Resource, object: &Value, old: &Value) -> Vec<Error> {
    table::errors(&format!("status {}", section(resource)), &Found::root(object, Some(old)))
}

fn section(resource: &Resource) -> String {
    format!("{} {}", resource.api_version(), resource.kind)
}
