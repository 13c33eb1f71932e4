//! Checks `anyOf`, `oneOf`, `allOf` and `not`.

use serde_json::Value;
use webhook::field::{Error, quote};

use super::{check as check_value, without_field};
use crate::object::structural::schema::{Checks, Schema};

/// Checks a value against the combined schemas.
pub(super) fn check(path: &str, value: &Value, checks: &Checks, errors: &mut Vec<Error>) {
    let of = |schema: &Schema| {
        let mut errors = Vec::new();
        check_value(path, value, None, schema, &mut errors);
        errors
    };
    let name = quote(path);
    let any: Vec<_> = checks.any_of.iter().map(of).collect();
    if !any.is_empty() && any.iter().all(|errors| !errors.is_empty()) {
        errors.push(without_field(format!("{name} must validate at least one schema (anyOf)")));
        errors.extend(nearest(any));
    }
    let one: Vec<_> = checks.one_of.iter().map(of).collect();
    let fitting = one.iter().filter(|errors| errors.is_empty()).count();
    if !one.is_empty() && fitting != 1 {
        let found = match fitting {
            0 => "Found none valid".to_owned(),
            count => format!("Found {count} valid alternatives"),
        };
        errors.push(without_field(format!("{name} must validate one and only one schema (oneOf). {found}")));
        if fitting == 0 {
            errors.extend(nearest(one));
        }
    }
    let all: Vec<_> = checks.all_of.iter().map(of).collect();
    let (wanted, fitting) = (all.len(), all.iter().filter(|errors| errors.is_empty()).count());
    errors.extend(all.into_iter().flatten());
    if fitting < wanted {
        let found = if fitting == 0 { ". None validated" } else { "" };
        errors.push(without_field(format!("{name} must validate all the schemas (allOf){found}")));
    }
    if checks.not.as_deref().is_some_and(|not| of(not).is_empty()) {
        errors.push(without_field(format!("{name} must not validate the schema (not)")));
    }
}

/// The errors of the schema with the fewest errors.
fn nearest(alternatives: Vec<Vec<Error>>) -> Vec<Error> {
    alternatives.into_iter().min_by_key(Vec::len).unwrap_or_default()
}
