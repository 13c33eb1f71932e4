//! Selectors that an API server applies itself.

use std::slice;

use api::garden::reference::{LabelSelector, LabelSelectorRequirement};
use formats::selector::{LabelSelector as Applied, Operator, Requirement};
use webhook::field::{Error, Path, quote};

use super::field_errors::FieldErrors;
use super::go_value::GoValue;
use super::{label_selector, names, references};

/// The errors of a selector, and the selector itself unless it is empty or cannot be applied: GDN-MSS-004.
pub(super) fn validate(selector: &LabelSelector, at: &Path) -> (FieldErrors, Option<Applied>) {
    if selector.match_labels.is_empty() && selector.match_expressions.is_empty() {
        let why = "empty selector is invalid for ManagedSeedSet";
        return (vec![Error::invalid(at, &value(selector), why)], None);
    }
    let mut errors = label_selector::validate(&selector.match_labels, &selector.match_expressions, at);
    match applied(selector) {
        Ok(applied) => (errors, Some(applied)),
        Err(why) => {
            errors.push(Error::invalid(at, &value(selector), &why));
            (errors, None)
        }
    }
}

/// The selector as a value of the original's type.
pub(super) fn value(selector: &LabelSelector) -> GoValue {
    let fields = vec![
        ("MatchLabels", GoValue::Map(selector.match_labels.clone())),
        ("MatchExpressions", references::requirements(&selector.match_expressions)),
    ];
    GoValue::Struct("v1.LabelSelector", fields)
}

/// The selector as an API server applies it.
///
/// # Errors
/// The first error of its requirements.
pub(crate) fn applied(selector: &LabelSelector) -> Result<Applied, String> {
    for (key, value) in &selector.match_labels {
        check(key, slice::from_ref(value), None)?;
    }
    let expressions: Result<Vec<Requirement>, String> =
        selector.match_expressions.iter().map(requirement).collect();
    Ok(Applied { match_labels: selector.match_labels.clone(), match_expressions: expressions? })
}

/// The selector of a field as an API server applies it; `shown` is the selector that the error names.
///
/// # Errors
/// The original's text when it cannot be applied.
pub(crate) fn converted(
    selector: &LabelSelector,
    shown: &LabelSelector,
    field: &str,
) -> Result<Applied, String> {
    let failed = |why: String| {
        format!("label selector conversion failed: {} for {field}: {why}", value(shown).plain())
    };
    applied(selector).map_err(failed)
}

fn requirement(expression: &LabelSelectorRequirement) -> Result<Requirement, String> {
    let LabelSelectorRequirement { key, operator, values, .. } = expression;
    let operator = match operator.as_str() {
        "In" => Operator::In,
        "NotIn" => Operator::NotIn,
        "Exists" => Operator::Exists,
        "DoesNotExist" => Operator::DoesNotExist,
        other => return Err(format!("{} is not a valid label selector operator", quote(other))),
    };
    let wrong = match (operator, values.is_empty()) {
        (Operator::In | Operator::NotIn, true) => {
            Some("for 'in', 'notin' operators, values set can't be empty")
        }
        (Operator::Exists | Operator::DoesNotExist, false) => {
            Some("values set must be empty for exists and does not exist")
        }
        _ => None,
    };
    check(key, values, wrong)?;
    Ok(Requirement { key: key.clone(), operator, values: values.clone() })
}

/// The errors of a requirement: of the key, of the number of values, of each value.
fn check(key: &str, values: &[String], wrong: Option<&str>) -> Result<(), String> {
    let mut errors = FieldErrors::new();
    let of_key = names::label_key(key);
    if !of_key.is_empty() {
        errors.push(Error::invalid(&Path::new("key"), key, &of_key.join("; ")));
    }
    let at = Path::new("values");
    errors.extend(wrong.map(|why| Error::invalid(&at, &GoValue::texts(values), why)));
    for (index, value) in values.iter().enumerate() {
        let of_value = names::label_value(value);
        if !of_value.is_empty() {
            errors.push(Error::invalid(&at.index(index).key(key), value, &of_value.join("; ")));
        }
    }
    if errors.is_empty() { Ok(()) } else { Err(webhook::field::aggregate(&errors)) }
}
