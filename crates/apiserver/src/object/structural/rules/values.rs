//! Values of an object as CEL sees them: typed by the schema, with the names that fields have there.

use std::sync::Arc;

use kube_cel::cel::objects::{Key, Map};
use kube_cel::cel::{Context, Program, Value as Cel};
use serde_json::Value;

use super::super::schema::{Additional, Schema};

/// Words that are no names in CEL.
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

/// A value as its schema types it; `root`: of an object's metadata, only the names are seen.
pub(super) fn value(json: &Value, schema: &Schema, root: bool) -> Cel {
    match json {
        Value::Null => Cel::Null,
        Value::Bool(flag) => Cel::Bool(*flag),
        Value::Number(number) => {
            let real = schema.checks.types.iter().any(|name| name == "number");
            match number.as_i64().filter(|_| !real) {
                Some(whole) => Cel::Int(whole),
                None => Cel::Float(number.as_f64().unwrap_or_default()),
            }
        }
        Value::String(text) => formatted(text, schema.checks.format.as_deref()),
        Value::Array(items) => {
            let none = Schema::default();
            let below = schema.items.as_deref().unwrap_or(&none);
            Cel::List(Arc::new(items.iter().map(|item| value(item, below, false)).collect()))
        }
        Value::Object(fields) => {
            let seen = fields.iter().filter_map(|(name, field)| seen(name, field, schema, root));
            Cel::Map(Map { map: Arc::new(seen.collect()) })
        }
    }
}

fn seen(name: &str, field: &Value, schema: &Schema, root: bool) -> Option<(Key, Cel)> {
    let key = |name: String| Key::String(Arc::new(name));
    let whole = root || schema.embedded;
    if whole && name == "metadata" {
        let names = ["name", "generateName"].into_iter();
        let names = names.filter_map(|name| Some((key(name.to_owned()), plain(field.get(name)?.as_str()?))));
        return Some((key(name.to_owned()), Cel::Map(Map { map: Arc::new(names.collect()) })));
    }
    if whole && matches!(name, "apiVersion" | "kind") {
        return Some((key(name.to_owned()), plain(field.as_str()?)));
    }
    if let Some(below) = schema.properties.get(name) {
        return Some((key(escaped(name)), value(field, below, false)));
    }
    // The keys of a map are data, and no names.
    let Additional::Of(below) = &schema.additional else { return None };
    Some((key(name.to_owned()), value(field, below, false)))
}

fn plain(text: &str) -> Cel {
    Cel::String(Arc::new(text.to_owned()))
}

/// A text that is a time, a duration or bytes; the text itself where it is none.
fn formatted(text: &str, format: Option<&str>) -> Cel {
    let expression = match format {
        Some("date-time") => "timestamp(self)",
        Some("date") => "timestamp(self + 'T00:00:00Z')",
        Some("duration") => "duration(self)",
        _ => return plain(text),
    };
    let mut context = Context::default();
    context.add_variable_from_value("self", plain(text));
    let read = Program::compile(expression).ok().and_then(|program| program.execute(&context).ok());
    read.unwrap_or_else(|| plain(text))
}

/// The name of a field in CEL.
fn escaped(name: &str) -> String {
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
    fn names_are_escaped_as_kubernetes_escapes_them() {
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
            assert_eq!(escaped(name), want);
        }
    }
}
