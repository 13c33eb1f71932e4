//! Objects within objects: apiVersion, kind and metadata of `x-kubernetes-embedded-resource`.

use serde_json::{Map, Value};
use webhook::field::{Error, ErrorKind, Shown};

use super::walk::walk;
use crate::object::structural::schema::Schema;
use crate::object::validation::metadata;

/// What is wrong with the objects that an object holds.
pub(super) fn embedded(object: &Value, schema: &Schema) -> Vec<Error> {
    let mut errors = Vec::new();
    walk(object, schema, &mut |path, value, schema| {
        if let Some(fields) = value.as_object().filter(|_| schema.embedded) {
            identity(path, fields, &mut errors);
        }
    });
    errors
}

fn identity(path: &str, fields: &Map<String, Value>, errors: &mut Vec<Error>) {
    for name in ["apiVersion", "kind"] {
        let at = child(path, name);
        match fields.get(name) {
            None => {
                let (value, detail) = (None, String::new());
                errors.push(Error { kind: ErrorKind::Required, field: at, value, detail });
            }
            Some(Value::String(text)) => {
                let wrong = if name == "kind" { wrong_kind(text) } else { wrong_api_version(text) };
                errors.extend(wrong.map(|why| invalid(&at, text, &why)));
            }
            Some(other) => errors.push(invalid(&at, other, "must be a string")),
        }
    }
    if let Some(object) = fields.get("metadata") {
        errors.extend(metadata::marks(&child(path, "metadata"), object));
    }
}

fn wrong_kind(kind: &str) -> Option<String> {
    if kind.is_empty() {
        return Some("must not be empty".to_owned());
    }
    let wrong = formats::name::dns1035_label(&kind.to_lowercase());
    (!wrong.is_empty())
        .then(|| format!("may have mixed case, but should otherwise match: {}", wrong.join(",")))
}

fn wrong_api_version(text: &str) -> Option<String> {
    if text.is_empty() {
        return Some("must not be empty".to_owned());
    }
    (text.matches('/').count() > 1).then(|| format!("unexpected GroupVersion string: {text}"))
}

fn invalid(field: &str, value: impl Into<Shown>, why: &str) -> Error {
    Error {
        kind: ErrorKind::Invalid,
        field: field.to_owned(),
        value: Some(value.into()),
        detail: why.to_owned(),
    }
}

fn child(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}
