//! What `given` and `then` share: fields that a type knows, elements of lists by key.

use schema::{Shape, Type};
use serde_json::Value;

use super::report::{Report, nearest};
use super::tree::{Data, Key, Span, Tree, literal};
use crate::expect::Rules;

/// An element of a list by key, as written.
pub(crate) struct Element<'a> {
    /// Key fields and their values, in the order of the keys.
    pub(crate) key: Vec<(String, Value)>,
    /// All fields but `$is`.
    pub(crate) fields: Vec<(Key, Tree)>,
    /// What `$is` says.
    pub(crate) is: Option<&'a Tree>,
}

/// Notes a field that the type at this place does not have.
pub(crate) fn check_field(name: &str, span: Span, rules: &Rules, report: &Report<'_>) {
    let ty = rules.ty();
    let shape = ty.shape();
    if shape == Shape::Object && ty.field(name).is_none() && !(ty.fields().is_empty() && ty.is_open()) {
        let fields = ty.fields();
        let remedy = nearest(name, fields.iter().map(|field| field.name.as_str()));
        report.add("unknown-field", span, format!("no field is named {name:?} here"), remedy);
    } else if is_scalar(ty) || shape == Shape::List {
        report.add("unknown-field", span, format!("a {} has no field {name:?}", shape_name(shape)), "");
    }
}

/// The key and the rest of an element; absent where it is left out because its key is `~`, or has none.
pub(crate) fn element<'a>(
    tree: &'a Tree,
    keys: &[String],
    rules: &Rules,
    report: &Report<'_>,
) -> Option<Element<'a>> {
    let Some(entries) = tree.map() else {
        if !tree.is_null() {
            report.add(
                "type",
                tree.span,
                format!("an element of this list is a map with {}", keys.join(" and ")),
                "",
            );
        }
        return None;
    };
    let mut key = Vec::new();
    let mut missing = Vec::new();
    for name in keys {
        match tree.get(name).map(|value| &value.data) {
            Some(Data::Scalar(Value::Null)) => return None,
            Some(Data::Scalar(Value::String(text))) => key.push((name.clone(), Value::from(literal(text)))),
            Some(Data::Scalar(value)) => key.push((name.clone(), value.clone())),
            Some(_) => {
                report.add("key", tree.span, format!("{name} is the key here and must be a value"), "");
                return None;
            }
            None => match rules.default_key(name) {
                Some(value) => key.push((name.clone(), value)),
                None => missing.push(name.as_str()),
            },
        }
    }
    if !missing.is_empty() {
        let message = format!("the element has no {}", missing.join(" and no "));
        report.add("key", tree.span, message, format!("elements of this list go by {}", keys.join(" and ")));
        return None;
    }
    let fields = entries.iter().filter(|(key, _)| key.name != "$is").cloned().collect();
    Some(Element { key, fields, is: tree.get("$is") })
}

/// Whether two keys are one.
pub(crate) fn same_key(a: &[(String, Value)], b: &[(String, Value)]) -> bool {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    a.len() == b.len() && a.iter().zip(b).all(|((_, a), (_, b))| text(a) == text(b))
}

pub(crate) fn is_scalar(ty: &Type) -> bool {
    !matches!(ty.shape(), Shape::Object | Shape::Map | Shape::List | Shape::Any)
}

/// What a value of this shape is called.
pub(crate) fn shape_name(shape: Shape) -> &'static str {
    match shape {
        Shape::Object | Shape::Map => "map",
        Shape::List => "list",
        Shape::String => "text",
        Shape::Integer(_) => "whole number",
        Shape::Number => "number",
        Shape::Boolean => "boolean",
        Shape::IntOrString => "number or text",
        Shape::Quantity => "quantity",
        Shape::Time | Shape::MicroTime => "time",
        Shape::Duration => "duration",
        Shape::Bytes => "Base64 text",
        Shape::Any => "value",
    }
}
