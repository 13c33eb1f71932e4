//! Checks apiVersion, kind and metadata of embedded resources (`x-kubernetes-embedded-resource`).

use serde_json::{Map, Value};
use webhook::field::{Error, ErrorKind, Shown};

use super::walk::walk;
use crate::object::structural::schema::Schema;
use crate::object::validation::metadata;

/// The errors of all embedded resources.
pub(super) fn embedded(object: &Value, schema: &Schema) -> Vec<Error> {
    let mut errors = Vec::new();
    walk(object, schema, &mut |path, value, schema| {
        if let Some(fields) = value.as_object().filter(|_| schema.embedded) {
            check_embedded(path, fields, &mut errors);
        }
    });
    errors
}

fn check_embedded(path: &str, fields: &Map<String, Value>, errors: &mut Vec<Error>) {
    for name in ["apiVersion", "kind"] {
        let at = child(path, name);
        match fields.get(name) {
            None => {
                let (value, detail) = (None, String::new());
                errors.push(Error { kind: ErrorKind::Required, field: at, value, detail });
            }
            Some(Value::String(text)) => {
                let error = if name == "kind" { kind_error(text) } else { api_version_error(text) };
                errors.extend(error.map(|why| invalid(&at, text, &why)));
            }
            Some(other) => errors.push(invalid(&at, other, "must be a string")),
        }
    }
    if let Some(object) = fields.get("metadata") {
        errors.extend(metadata::label_and_annotation_errors(&child(path, "metadata"), object));
    }
}

fn kind_error(kind: &str) -> Option<String> {
    if kind.is_empty() {
        return Some("must not be empty".to_owned());
    }
    let errors = formats::name::dns1035_label(&kind.to_lowercase());
    (!errors.is_empty())
        .then(|| format!("may have mixed case, but should otherwise match: {}", errors.join(",")))
}

fn api_version_error(text: &str) -> Option<String> {
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
