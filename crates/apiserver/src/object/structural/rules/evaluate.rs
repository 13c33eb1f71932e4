//! Evaluates rules, with kube-apiserver's messages.

use std::sync::Arc;

use kube_cel::cel::Value as Cel;
use kube_cel::cel::objects::OptionalValue;
use serde_json::Value;
use webhook::field::{Error, ErrorKind, Shown};

use super::super::schema::{Additional, ListType, Schema};
use super::expression::{self, CompiledRule};
use super::{ValidationRule, values};

/// The field of an error without a field, as Go prints it.
const NO_FIELD: &str = "<nil>";

/// The error if a rule cannot be compiled.
pub(crate) fn rule_error(text: &str) -> Option<String> {
    expression::compile_error(text)
}

/// The violated rules of a schema. If `blocked`, other errors prevent the evaluation, and one error says so.
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
            field: NO_FIELD.to_owned(),
            value,
            detail: detail.to_owned(),
        }];
    }
    let mut errors = Vec::new();
    check_value("", object, old, schema, &mut errors);
    errors
}

fn has_rules(schema: &Schema) -> bool {
    !schema.rules.is_empty()
        || schema.properties.values().any(has_rules)
        || schema.items.as_deref().is_some_and(has_rules)
        || matches!(&schema.additional, Additional::Of(below) if has_rules(below))
}

/// Checks the value at a path and everything below; `old` is its previous value, if it can be identified.
fn check_value(path: &str, value: &Value, old: Option<&Value>, schema: &Schema, errors: &mut Vec<Error>) {
    // Rules do not apply to null.
    if value.is_null() {
        return;
    }
    if !schema.rules.is_empty() {
        check_rules(path, value, old, schema, errors);
    }
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                let before = old.and_then(|old| old.get(name));
                if let Some(schema) = schema.properties.get(name) {
                    let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                    check_value(&path, field, before, schema, errors);
                } else if let Additional::Of(schema) = &schema.additional {
                    check_value(&format!("{path}[{name}]"), field, before, schema, errors);
                }
            }
        }
        Value::Array(items) => {
            let Some(element) = &schema.items else { return };
            for (index, item) in items.iter().enumerate() {
                let before = old.and_then(|old| counterpart(item, old, &schema.list));
                check_value(&format!("{path}[{index}]"), item, before, element, errors);
            }
        }
        _ => {}
    }
}

/// The previous value of an element, which only a keyed list identifies.
fn counterpart<'a>(item: &Value, old: &'a Value, list: &ListType) -> Option<&'a Value> {
    let ListType::Map(keys) = list else { return None };
    old.as_array()?.iter().find(|other| keys.iter().all(|key| other.get(key) == item.get(key)))
}

fn check_rules(path: &str, value: &Value, old: Option<&Value>, schema: &Schema, errors: &mut Vec<Error>) {
    let own = values::to_cel(value, schema, path.is_empty());
    let before = old.map(|old| values::to_cel(old, schema, path.is_empty()));
    for rule in &schema.rules {
        let compiled = rule.compiled.get_or_init(|| CompiledRule::of(rule));
        if compiled.uses_old_self && before.is_none() && !rule.optional_old_self {
            continue;
        }
        // Ratcheting: a rule without `oldSelf` is not checked again for an unchanged value.
        let is_ratcheted = !compiled.uses_old_self && old.is_some_and(|old| old == value);
        if !is_ratcheted {
            errors.extend(check_rule(path, value, rule, (compiled, &own, before.as_ref()), schema));
        }
    }
}

type RuleInput<'a> = (&'a CompiledRule, &'a Cel, Option<&'a Cel>);

fn check_rule(
    path: &str,
    value: &Value,
    rule: &ValidationRule,
    (compiled, own, before): RuleInput<'_>,
    schema: &Schema,
) -> Option<Error> {
    let kind = schema.checks.types.first().map(String::as_str).unwrap_or_default();
    let failed = |detail: String| Error {
        kind: ErrorKind::Invalid,
        field: field_or_nil(path),
        value: Some(Shown::from(kind)),
        detail,
    };
    let program = match &compiled.program {
        Ok(program) => program,
        Err(why) => return Some(failed(format!("rule compile error: {why}"))),
    };
    let optional;
    let old_self = if rule.optional_old_self {
        let value = before.map_or_else(OptionalValue::none, |before| OptionalValue::of(before.clone()));
        optional = Cel::Opaque(Arc::new(value));
        Some(&optional)
    } else {
        before
    };
    match expression::evaluate(program, own, old_self) {
        Ok(Cel::Bool(true)) => None,
        Ok(_) => {
            let custom = compiled.message.as_ref().and_then(|program| message(program, own, before));
            let detail = custom.unwrap_or_else(|| default_message(rule));
            let field = format!("{path}{}", format_field_path(&rule.field_path, schema));
            Some(error_for_reason(&rule.reason, field.trim_start_matches('.'), value, detail))
        }
        Err(why) => Some(failed(format!("{why} evaluating rule: {}", rule.expression.trim()))),
    }
}

/// The result of a message expression; an empty or multi-line one is ignored.
fn message(program: &kube_cel::cel::Program, own: &Cel, before: Option<&Cel>) -> Option<String> {
    let Ok(Cel::String(text)) = expression::evaluate(program, own, before) else { return None };
    let text = text.trim();
    (!text.is_empty() && !text.contains('\n')).then(|| text.to_owned())
}

fn default_message(rule: &ValidationRule) -> String {
    match rule.message.trim() {
        "" => format!("failed rule: {}", rule.expression.trim()),
        message => message.to_owned(),
    }
}

fn error_for_reason(reason: &str, field: &str, value: &Value, detail: String) -> Error {
    // Messages do not show objects and lists.
    let shown = match value {
        Value::Object(_) | Value::Array(_) => None,
        Value::String(text) => Some(Shown::from(text.as_str())),
        other => Some(Shown::verbatim(other)),
    };
    let (kind, value, detail) = match reason {
        "FieldValueForbidden" => (ErrorKind::Forbidden, None, detail),
        "FieldValueRequired" => (ErrorKind::Required, None, detail),
        // kube-apiserver omits the message of duplicates.
        "FieldValueDuplicate" => (ErrorKind::Duplicate, shown, String::new()),
        _ => (ErrorKind::Invalid, shown, detail),
    };
    Error { kind, field: field_or_nil(field), value, detail }
}

/// The field of an error; Go prints `<nil>` for the object itself.
fn field_or_nil(path: &str) -> String {
    if path.is_empty() { NO_FIELD.to_owned() } else { path.to_owned() }
}

/// The path of a field in the form of messages: keys of a map in brackets.
fn format_field_path(path: &str, schema: &Schema) -> String {
    let mut formatted = String::new();
    let mut at = Some(schema);
    for step in path.split(['.', '[']).map(|step| step.trim_end_matches(']').trim_matches('\'')) {
        if step.is_empty() {
            continue;
        }
        let named = at.is_none_or(|schema| !schema.properties.is_empty());
        let (before, after) = if named { (".", "") } else { ("[", "]") };
        formatted.extend([before, step, after]);
        at = at.and_then(|schema| schema.field(step));
    }
    formatted
}
