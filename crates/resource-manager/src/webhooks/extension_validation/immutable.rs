//! Checks immutable fields: `field is immutable`.

use serde_json::Value;
use webhook::field::{Error, Path, Shown, quote};

use super::comparison::{equal, integer, items, member, present, text, truth};
use super::decoding::{bytes, quantity};
use super::shape::{Field, Shape};

/// Adds an error with the new value if it differs from the old one.
pub(super) fn check(
    shape: Shape,
    new: Option<&Value>,
    old: Option<&Value>,
    at: &Path,
    errors: &mut Vec<Error>,
) {
    if !equal(shape, new, old) {
        errors.push(Error::invalid(at, go_value(shape, present(new)), "field is immutable"));
    }
}

/// Checks the field at `path` in two structs; if a parent is optional, only when both have it.
pub(super) fn check_path(
    fields: &[Field],
    path: &[&str],
    values: (Option<&Value>, Option<&Value>),
    at: &Path,
    errors: &mut Vec<Error>,
) {
    let Some((name, rest)) = path.split_first() else { return };
    let Some(field) = fields.iter().find(|field| field.name == *name) else { return };
    let (new, old) = (member(values.0, name), member(values.1, name));
    let at = at.child(name);
    match field.shape {
        _ if rest.is_empty() => check(field.shape, new, old, &at, errors),
        Shape::Struct(fields) => check_path(fields, rest, (new, old), &at, errors),
        Shape::Pointer(_, Shape::Struct(fields)) if new.is_some() && old.is_some() => {
            check_path(fields, rest, (new, old), &at, errors);
        }
        _ => {}
    }
}

/// A value as the original's errors show it.
fn go_value(shape: Shape, value: Option<&Value>) -> Shown {
    match shape {
        Shape::Pointer(_, inner) => {
            value.map_or_else(|| Shown::from("null"), |value| go_value(*inner, Some(value)))
        }
        Shape::Truth => Shown::from(truth(value)),
        Shape::Integer32 | Shape::Integer64 => Shown::from(integer(value)),
        Shape::Time => Shown::verbatim(time(text(value))),
        Shape::Bytes if value.is_none() => Shown::verbatim("[]byte(nil)"),
        Shape::Bytes => {
            let hex: Vec<String> = bytes(value).iter().map(|byte| format!("{byte:#x}")).collect();
            Shown::verbatim(format!("[]byte{{{}}}", hex.join(", ")))
        }
        Shape::List(name, Shape::Text) if value.is_none() => Shown::verbatim(format!("[]{name}(nil)")),
        Shape::List(name, Shape::Text) => {
            let texts: Vec<String> = items(value).iter().map(|item| quote(text(Some(item)))).collect();
            Shown::verbatim(format!("[]{name}{{{}}}", texts.join(", ")))
        }
        Shape::Quantity => Shown::from(&quantity(value).to_string()),
        Shape::Text | Shape::Duration => Shown::from(text(value)),
        _ => Shown::verbatim(value.map_or_else(|| "null".to_owned(), Value::to_string)),
    }
}

/// A time as Go prints it; API servers write UTC.
fn time(text: &str) -> String {
    match text.strip_suffix('Z').and_then(|text| text.split_once('T')) {
        Some((date, clock)) => format!("{date} {clock} +0000 UTC"),
        None if text.is_empty() => "0001-01-01 00:00:00 +0000 UTC".to_owned(),
        None => text.to_owned(),
    }
}
