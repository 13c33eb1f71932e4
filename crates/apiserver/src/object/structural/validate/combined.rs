//! Checks `anyOf`, `oneOf`, `allOf` and `not`.

use serde_json::Value;
use webhook::field::{Error, quote};

use super::{check as check_value, type_mismatch, without_field};
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
        errors.extend(nearest(value, &checks.any_of, any));
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
            errors.extend(nearest(value, &checks.one_of, one));
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

/// The errors of the schema of which most applies to the value; the first such one.
fn nearest(value: &Value, schemas: &[Schema], errors: Vec<Vec<Error>>) -> Vec<Error> {
    let alternatives = schemas.iter().zip(errors).rev();
    let nearest = alternatives.max_by_key(|(schema, _)| applying(value, schema));
    nearest.map(|(_, errors)| errors).unwrap_or_default()
}

/// How many of kube-openapi's validators apply to a value and what is below it; a fitting type counts twice.
fn applying(value: &Value, schema: &Schema) -> usize {
    let fits = usize::from(type_mismatch("", value, schema).is_none());
    if value.is_null() {
        return fits;
    }
    let has_format = schema.checks.format.is_some();
    let of_type = if schema.checks.types.is_empty() && !has_format { 0 } else { 1 + fits };
    let of_format = usize::from(value.is_string() && has_format);
    let of_kind = usize::from(!value.is_boolean());
    let below: usize = match value {
        Value::Object(fields) => {
            fields.iter().filter_map(|(name, below)| Some(applying(below, schema.field(name)?))).sum()
        }
        Value::Array(items) => {
            let element = schema.items.as_deref();
            element.map_or(0, |element| items.iter().map(|item| applying(item, element)).sum())
        }
        _ => 0,
    };
    3 + of_type + of_format + of_kind + below
}
