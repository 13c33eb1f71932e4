//! What rules hold against an object, in the words of Kubernetes.

use std::sync::Arc;

use kube_cel::cel::Value as Cel;
use kube_cel::cel::objects::OptionalValue;
use serde_json::Value;
use webhook::field::{Error, ErrorKind, Shown};

use super::super::schema::{Additional, List, Schema};
use super::expression::{self, Read};
use super::{Rule, values};

/// The field of an error that belongs to no field.
const NOWHERE: &str = "<nil>";

/// Why a text is no rule; absent if it is one.
pub(crate) fn unreadable(text: &str) -> Option<String> {
    expression::wrong(text)
}

/// What the rules of a schema hold against an object; `blocked`: it is wrong already, so that nothing can be said of it.
pub(crate) fn check(object: &Value, old: Option<&Value>, schema: &Schema, blocked: bool) -> Vec<Error> {
    if !has_rules(schema) {
        return Vec::new();
    }
    if blocked {
        let detail = "some validation rules were not checked because the object was invalid; correct the existing errors \
                      to complete validation";
        let value = Some(Shown::verbatim("null"));
        return vec![Error {
            kind: ErrorKind::Invalid,
            field: NOWHERE.to_owned(),
            value,
            detail: detail.to_owned(),
        }];
    }
    let mut errors = Vec::new();
    below("", object, old, schema, &mut errors);
    errors
}

fn has_rules(schema: &Schema) -> bool {
    !schema.rules.is_empty()
        || schema.properties.values().any(has_rules)
        || schema.items.as_deref().is_some_and(has_rules)
        || matches!(&schema.additional, Additional::Of(below) if has_rules(below))
}

/// Checks the value at a path, and all that lies in it; `old` is what it was, where that can be told.
fn below(path: &str, value: &Value, old: Option<&Value>, schema: &Schema, errors: &mut Vec<Error>) {
    // Null is no value of most types; there is nothing that a rule could look at.
    if value.is_null() {
        return;
    }
    if !schema.rules.is_empty() {
        place(path, value, old, schema, errors);
    }
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                let before = old.and_then(|old| old.get(name));
                if let Some(schema) = schema.properties.get(name) {
                    let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                    below(&path, field, before, schema, errors);
                } else if let Additional::Of(schema) = &schema.additional {
                    below(&format!("{path}[{name}]"), field, before, schema, errors);
                }
            }
        }
        Value::Array(items) => {
            let Some(element) = &schema.items else { return };
            for (index, item) in items.iter().enumerate() {
                let before = old.and_then(|old| counterpart(item, old, &schema.list));
                below(&format!("{path}[{index}]"), item, before, element, errors);
            }
        }
        _ => {}
    }
}

/// What an element was before; only keys tell.
fn counterpart<'a>(item: &Value, old: &'a Value, list: &List) -> Option<&'a Value> {
    let List::Map(keys) = list else { return None };
    old.as_array()?.iter().find(|other| keys.iter().all(|key| other.get(key) == item.get(key)))
}

fn place(path: &str, value: &Value, old: Option<&Value>, schema: &Schema, errors: &mut Vec<Error>) {
    let own = values::value(value, schema, path.is_empty());
    let before = old.map(|old| values::value(old, schema, path.is_empty()));
    for rule in &schema.rules {
        let read = rule.read.get_or_init(|| Read::of(rule));
        if read.looks_back && before.is_none() && !rule.optional_old_self {
            continue;
        }
        // What did not change is not held against who did not change it.
        let ratcheted = !read.looks_back && old.is_some_and(|old| old == value);
        if !ratcheted {
            errors.extend(one(path, value, rule, (read, &own, before.as_ref()), schema));
        }
    }
}

type Seen<'a> = (&'a Read, &'a Cel, Option<&'a Cel>);

fn one(
    path: &str,
    value: &Value,
    rule: &Rule,
    (read, own, before): Seen<'_>,
    schema: &Schema,
) -> Option<Error> {
    let kind = schema.checks.types.first().map(String::as_str).unwrap_or_default();
    let failed = |detail: String| Error {
        kind: ErrorKind::Invalid,
        field: place_or_nowhere(path),
        value: Some(Shown::from(kind)),
        detail,
    };
    let program = match &read.rule {
        Ok(program) => program,
        Err(why) => return Some(failed(format!("rule compile error: {why}"))),
    };
    let optional;
    let seen = if rule.optional_old_self {
        let value = before.map_or_else(OptionalValue::none, |before| OptionalValue::of(before.clone()));
        optional = Cel::Opaque(Arc::new(value));
        Some(&optional)
    } else {
        before
    };
    match expression::evaluate(program, own, seen) {
        Ok(Cel::Bool(true)) => None,
        Ok(_) => {
            let made = read.message.as_ref().and_then(|program| message(program, own, before));
            let detail = made.unwrap_or_else(|| usual(rule));
            let field = format!("{path}{}", told(&rule.field_path, schema));
            Some(of_reason(&rule.reason, field.trim_start_matches('.'), value, detail))
        }
        Err(why) => Some(failed(format!("{why} evaluating rule: {}", rule.holds.trim()))),
    }
}

/// A message that is made; one that is empty or has several lines is none.
fn message(program: &kube_cel::cel::Program, own: &Cel, before: Option<&Cel>) -> Option<String> {
    let Ok(Cel::String(text)) = expression::evaluate(program, own, before) else { return None };
    let text = text.trim();
    (!text.is_empty() && !text.contains('\n')).then(|| text.to_owned())
}

fn usual(rule: &Rule) -> String {
    match rule.message.trim() {
        "" => format!("failed rule: {}", rule.holds.trim()),
        message => message.to_owned(),
    }
}

fn of_reason(reason: &str, field: &str, value: &Value, detail: String) -> Error {
    // Objects and lists are not shown: they are long.
    let shown = match value {
        Value::Object(_) | Value::Array(_) => None,
        Value::String(text) => Some(Shown::from(text.as_str())),
        other => Some(Shown::verbatim(other)),
    };
    let (kind, value, detail) = match reason {
        "FieldValueForbidden" => (ErrorKind::Forbidden, None, detail),
        "FieldValueRequired" => (ErrorKind::Required, None, detail),
        // That it is there twice says enough.
        "FieldValueDuplicate" => (ErrorKind::Duplicate, shown, String::new()),
        _ => (ErrorKind::Invalid, shown, detail),
    };
    Error { kind, field: place_or_nowhere(field), value, detail }
}

/// The object as a whole is no field, as Go prints it.
fn place_or_nowhere(path: &str) -> String {
    if path.is_empty() { NOWHERE.to_owned() } else { path.to_owned() }
}

/// The path of a field as messages write it: entries of a map in brackets.
fn told(path: &str, schema: &Schema) -> String {
    let mut told = String::new();
    let mut at = Some(schema);
    for step in path.split(['.', '[']).map(|step| step.trim_end_matches(']').trim_matches('\'')) {
        if step.is_empty() {
            continue;
        }
        let named = at.is_none_or(|schema| !schema.properties.is_empty());
        let (before, after) = if named { (".", "") } else { ("[", "]") };
        told.extend([before, step, after]);
        at = at.and_then(|schema| schema.field(step));
    }
    told
}
