//! Checks lists and objects: size, required fields, elements and fields.

use serde_json::{Map, Value};
use webhook::field::{Error, ErrorKind, Shown};

use super::{check, invalid, plural};
use crate::object::structural::schema::{ListType, Schema};

/// Checks the elements of a list and their number.
pub(super) fn check_elements(
    path: &str,
    items: &[Value],
    old: Option<&Value>,
    schema: &Schema,
    errors: &mut Vec<Error>,
) {
    if let Some(below) = &schema.items {
        for (index, item) in items.iter().enumerate() {
            check(&format!("{path}[{index}]"), item, counterpart(item, old, &schema.list), below, errors);
        }
    }
    let count = count(items.len());
    if let Some(min) = schema.checks.min_items.filter(|min| count < *min) {
        errors.push(invalid(path, Shown::verbatim(count), &format!("should have at least {min} items")));
    }
    errors.extend(too_many(path, count, schema.checks.max_items));
    let has_duplicates = || items.iter().enumerate().any(|(at, item)| items[..at].contains(item));
    if schema.checks.unique && has_duplicates() {
        errors.push(invalid(path, Shown::from(""), "shouldn't contain duplicates"));
    }
}

/// Checks the number of fields of an object, the fields, and that the required ones are there.
pub(super) fn check_fields(
    path: &str,
    fields: &Map<String, Value>,
    old: Option<&Value>,
    schema: &Schema,
    errors: &mut Vec<Error>,
) {
    let (checks, count) = (&schema.checks, count(fields.len()));
    if let Some(min) = checks.min_properties.filter(|min| count < *min) {
        let why = format!("should have at least {min} properties");
        errors.push(invalid(path, Shown::verbatim(count), &why));
    }
    errors.extend(too_many(path, count, checks.max_properties));
    for (name, value) in fields {
        if let Some(below) = schema.field(name) {
            check(&field_path(path, name), value, old.and_then(|old| old.get(name)), below, errors);
        }
    }
    for name in checks.required.iter().filter(|name| !fields.contains_key(*name)) {
        let field = field_path(path, name);
        errors.push(Error { kind: ErrorKind::Required, field, value: None, detail: String::new() });
    }
}

/// The previous value of an element, which only a keyed list identifies.
fn counterpart<'a>(item: &Value, old: Option<&'a Value>, list: &ListType) -> Option<&'a Value> {
    let ListType::Map(keys) = list else { return None };
    let same = |other: &&Value| keys.iter().all(|key| other.get(key) == item.get(key));
    old?.as_array()?.iter().find(same)
}

fn too_many(path: &str, count: u64, max: Option<u64>) -> Option<Error> {
    let max = max.filter(|max| count > *max)?;
    let (value, detail) =
        (Some(Shown::verbatim(count)), format!("must have at most {max} item{}", plural(max)));
    Some(Error { kind: ErrorKind::TooMany, field: path.to_owned(), value, detail })
}

fn count(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

fn field_path(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}
