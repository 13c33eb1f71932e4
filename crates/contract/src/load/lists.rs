//! Shared by `given` and `then`: checks of field names, and elements of lists by key.

use schema::{Shape, Type};
use serde_json::Value;

use super::report::{Report, nearest};
use super::tree::{Key, Span, Tree, TreeData, literal};
use crate::expect::Rules;

/// An element of a list by key, as written.
pub(crate) struct Element<'a> {
    /// Key fields and their values, in the order of the keys.
    pub(crate) key: Vec<(String, Value)>,
    /// All fields but `$is`.
    pub(crate) fields: Vec<(Key, Tree)>,
    /// The value of `$is`.
    pub(crate) is: Option<&'a Tree>,
}

/// Reports a field that the type does not have.
pub(crate) fn check_field(name: &str, span: Span, rules: &Rules, report: &Report<'_>) {
    let ty = rules.ty();
    let shape = ty.shape();
    if shape == Shape::Object && ty.field(name).is_none() && !(ty.fields().is_empty() && ty.is_open()) {
        let fields = ty.fields();
        let remedy = nearest(name, fields.iter().map(|field| field.name.as_str()));
        report.add("unknown-field", span, format!("unknown field {name:?}"), remedy);
    } else if is_scalar(ty) || shape == Shape::List {
        report.add(
            "unknown-field",
            span,
            format!("the field {name:?} is not allowed here: expected a {}", shape_name(shape)),
            "",
        );
    }
}

/// Reports a number or boolean as the value of a label or annotation: no API server reads such an object.
pub(crate) fn check_value_of_map(value: &Tree, rules: &Rules, report: &Report<'_>) {
    let is_of_strings = rules.ty().values().is_some_and(|ty| ty.shape() == Shape::String);
    if let (true, TreeData::Scalar(scalar @ (Value::Bool(_) | Value::Number(_)))) =
        (is_of_strings, &value.data)
    {
        let message = format!("{scalar} is not allowed here: expected a string");
        report.add("type", value.span, message, quoted(scalar));
    }
}

/// The remedy for a scalar where a string is expected.
pub(crate) fn quoted(scalar: &Value) -> String {
    format!("quote it: \"{scalar}\"")
}

/// The key and the fields of an element; `None` if its key is `~`, or missing, which is reported.
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
                format!("an element of this list must be a map with {}", keys.join(" and ")),
                "",
            );
        }
        return None;
    };
    let mut key = Vec::new();
    let mut missing = Vec::new();
    for name in keys {
        match tree.get(name).map(|value| &value.data) {
            Some(TreeData::Scalar(Value::Null)) => return None,
            Some(TreeData::Scalar(Value::String(text))) => {
                key.push((name.clone(), Value::from(literal(text))));
            }
            Some(TreeData::Scalar(value)) => key.push((name.clone(), value.clone())),
            Some(_) => {
                report.add(
                    "key",
                    tree.span,
                    format!("{name} is the key of this list and must be a scalar"),
                    "",
                );
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
        report.add(
            "key",
            tree.span,
            message,
            format!("add it: the key of this list is {}", keys.join(" and ")),
        );
        return None;
    }
    let fields = entries.iter().filter(|(key, _)| key.name != "$is").cloned().collect();
    Some(Element { key, fields, is: tree.get("$is") })
}

/// Whether two keys are equal.
pub(crate) fn same_key(a: &[(String, Value)], b: &[(String, Value)]) -> bool {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    a.len() == b.len() && a.iter().zip(b).all(|((_, a), (_, b))| text(a) == text(b))
}

pub(crate) fn is_scalar(ty: &Type) -> bool {
    !matches!(ty.shape(), Shape::Object | Shape::Map | Shape::List | Shape::Any)
}

/// The name of a shape in messages.
pub(crate) fn shape_name(shape: Shape) -> &'static str {
    match shape {
        Shape::Object | Shape::Map => "map",
        Shape::List => "list",
        Shape::String => "string",
        Shape::Integer(_) => "whole number",
        Shape::Number => "number",
        Shape::Boolean => "boolean",
        Shape::IntOrString => "number or string",
        Shape::Quantity => "quantity",
        Shape::Time | Shape::MicroTime => "time",
        Shape::Duration => "duration",
        Shape::Bytes => "Base64 string",
        Shape::Any => "value",
    }
}
