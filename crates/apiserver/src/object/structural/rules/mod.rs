//! Validation rules in CEL (`x-kubernetes-validations`), evaluated with the feature `cel`.

#[cfg(feature = "cel")]
mod evaluate;
#[cfg(feature = "cel")]
mod expression;
#[cfg(feature = "cel")]
mod values;

#[cfg(feature = "cel")]
use serde::Deserialize;
use serde_json::Value;

#[cfg(feature = "cel")]
pub(crate) use evaluate::{check, rule_error};

/// A validation rule.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[cfg(feature = "cel")]
pub(crate) struct ValidationRule {
    /// The expression about `self`, and `oldSelf` in updates.
    #[serde(rename = "rule")]
    expression: String,
    /// The message if the rule is violated.
    message: String,
    /// An expression for the message.
    message_expression: String,
    /// `FieldValueForbidden`; empty for an invalid value.
    reason: String,
    /// The field of the error, relative to the value with the rule: `.spec.size`.
    field_path: String,
    /// Whether the rule also applies to new objects, with `oldSelf` as an optional value.
    optional_old_self: bool,
    /// The expressions, compiled when they are first evaluated.
    #[serde(skip)]
    compiled: std::sync::OnceLock<expression::CompiledRule>,
}

#[cfg(feature = "cel")]
impl ValidationRule {
    /// The rules of a schema.
    pub(super) fn all(schema: &Value) -> Vec<Self> {
        let rules = schema.get("x-kubernetes-validations").and_then(Value::as_array).into_iter().flatten();
        rules.filter_map(|rule| Self::deserialize(rule).ok()).collect()
    }
}

/// Without the feature, no rule is evaluated.
#[cfg(not(feature = "cel"))]
pub(crate) fn check(
    _: &Value,
    _: Option<&Value>,
    _: &super::schema::Schema,
    _: bool,
) -> Vec<webhook::field::Error> {
    Vec::new()
}

/// Without the feature, every rule is accepted.
#[cfg(not(feature = "cel"))]
pub(crate) fn rule_error(_: &str) -> Option<String> {
    None
}
