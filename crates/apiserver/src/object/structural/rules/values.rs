//! Converts values to CEL: typed by the schema, with CEL's names of fields.

use std::sync::Arc;

use kube_cel::cel::objects::{Key, Map};
use kube_cel::cel::{Context, Program, Value as Cel};
use serde_json::Value;

use super::super::schema::{Additional, Schema};

/// Words that CEL reserves.
const RESERVED: &[&str] = &[
    "as",
    "break",
    "const",
    "continue",
    "else",
    "false",
    "for",
    "function",
    "if",
    "import",
    "in",
    "let",
    "loop",
    "namespace",
    "null",
    "package",
    "return",
    "true",
    "var",
    "void",
    "while",
];

/// Converts a value. At the `root`, only the names in the metadata are visible.
pub(super) fn to_cel(json: &Value, schema: &Schema, root: bool) -> Cel {
    match json {
        Value::Null => Cel::Null,
        Value::Bool(flag) => Cel::Bool(*flag),
        Value::Number(number) => {
            let is_float = schema.checks.types.iter().any(|name| name == "number");
            match number.as_i64().filter(|_| !is_float) {
                Some(integer) => Cel::Int(integer),
                None => Cel::Float(number.as_f64().unwrap_or_default()),
            }
        }
        Value::String(text) => string_in_format(text, schema.checks.format.as_deref()),
        Value::Array(items) => {
            let none = Schema::default();
            let below = schema.items.as_deref().unwrap_or(&none);
            Cel::List(Arc::new(items.iter().map(|item| to_cel(item, below, false)).collect()))
        }
        Value::Object(fields) => {
            let converted = fields.iter().filter_map(|(name, field)| field_to_cel(name, field, schema, root));
            Cel::Map(Map { map: Arc::new(converted.collect()) })
        }
    }
}

fn field_to_cel(name: &str, field: &Value, schema: &Schema, root: bool) -> Option<(Key, Cel)> {
    let key = |name: String| Key::String(Arc::new(name));
    let is_object = root || schema.embedded;
    if is_object && name == "metadata" {
        let names = ["name", "generateName"].into_iter();
        let names = names.filter_map(|name| Some((key(name.to_owned()), string(field.get(name)?.as_str()?))));
        return Some((key(name.to_owned()), Cel::Map(Map { map: Arc::new(names.collect()) })));
    }
    if is_object && matches!(name, "apiVersion" | "kind") {
        return Some((key(name.to_owned()), string(field.as_str()?)));
    }
    if let Some(below) = schema.properties.get(name) {
        return Some((key(escape(name)), to_cel(field, below, false)));
    }
    // Keys of a map are data and stay unescaped.
    let Additional::Of(below) = &schema.additional else { return None };
    Some((key(name.to_owned()), to_cel(field, below, false)))
}

fn string(text: &str) -> Cel {
    Cel::String(Arc::new(text.to_owned()))
}

/// Converts a string by its format to a time or duration; it stays a string if it is invalid.
fn string_in_format(text: &str, format: Option<&str>) -> Cel {
    let expression = match format {
        Some("date-time") => "timestamp(self)",
        Some("date") => "timestamp(self + 'T00:00:00Z')",
        Some("duration") => "duration(self)",
        _ => return string(text),
    };
    let mut context = Context::default();
    context.add_variable_from_value("self", string(text));
    let value = Program::compile(expression).ok().and_then(|program| program.execute(&context).ok());
    value.unwrap_or_else(|| string(text))
}

/// The name of a field in CEL.
fn escape(name: &str) -> String {
    if RESERVED.contains(&name) {
        return format!("__{name}__");
    }
    name.replace("__", "__underscores__")
        .replace('.', "__dot__")
        .replace('-', "__dash__")
        .replace('/', "__slash__")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_escaped_as_in_kubernetes() {
        let table = [
            ("size", "size"),
            ("a_b", "a_b"),
            ("a__b", "a__underscores__b"),
            ("a.b", "a__dot__b"),
            ("a-b", "a__dash__b"),
            ("a/b", "a__slash__b"),
            ("namespace", "__namespace__"),
        ];
        for (name, want) in table {
            assert_eq!(escape(name), want);
        }
    }
}
