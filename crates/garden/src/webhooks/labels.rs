//! Labels of an object that something else is to have.

use std::collections::BTreeMap;

use webhook::field::Path;

use super::field_errors::{FieldErrors, each_invalid};
use super::names;

/// The errors of keys and values; all are errors of the map.
pub(super) fn validate(labels: &BTreeMap<String, String>, at: &Path) -> FieldErrors {
    let mut errors = FieldErrors::new();
    for (key, value) in labels {
        errors.extend(each_invalid(at, key, &names::label_key(key)));
        errors.extend(each_invalid(at, value, &names::label_value(value)));
    }
    errors
}
