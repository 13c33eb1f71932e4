//! Checks required fields: `field is required`.

use serde_json::Value;
use webhook::field::{Error, Path};

use super::comparison::{member, text};

/// Adds an error if the string at `path` below `value` is empty; `at` is the path of `value`.
pub(super) fn check(value: Option<&Value>, path: &[&str], at: &Path, errors: &mut Vec<Error>) {
    let found = path.iter().fold(value, |value, name| member(value, name));
    check_that(!text(found).is_empty(), path, at, errors);
}

/// Adds an error for the field at `path` below `at` unless it `is_there`.
pub(super) fn check_that(is_there: bool, path: &[&str], at: &Path, errors: &mut Vec<Error>) {
    if !is_there {
        let field = path.iter().fold(at.clone(), |at, name| at.child(name));
        errors.push(Error::required(&field, "field is required"));
    }
}

/// Checks required strings of an object's specification, each by its path.
pub(super) fn check_spec(object: &Value, paths: &[&[&str]], errors: &mut Vec<Error>) {
    for path in paths {
        check(member(Some(object), "spec"), path, &Path::new("spec"), errors);
    }
}
