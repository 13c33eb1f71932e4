//! Rules in CEL (`x-kubernetes-validations`), evaluated where the feature `cel` is built in.

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
pub(crate) use evaluate::{check, unreadable};

/// A rule of one place of an object.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[cfg(feature = "cel")]
pub(crate) struct Rule {
    /// What must be true of `self`, and of `oldSelf` after a change.
    #[serde(rename = "rule")]
    holds: String,
    /// What is said where it is not.
    message: String,
    /// The same as an expression.
    message_expression: String,
    /// `FieldValueForbidden`; an invalid value where it does not say.
    reason: String,
    /// The field that is told, seen from the place: `.spec.size`.
    field_path: String,
    /// Whether it holds for what is new too; `oldSelf` is an optional value then.
    optional_old_self: bool,
    /// The expressions, read when they are first evaluated.
    #[serde(skip)]
    read: std::sync::OnceLock<expression::Read>,
}

#[cfg(feature = "cel")]
impl Rule {
    /// The rules of a place.
    pub(super) fn all(schema: &Value) -> Vec<Self> {
        let rules = schema.get("x-kubernetes-validations").and_then(Value::as_array).into_iter().flatten();
        rules.filter_map(|rule| Self::deserialize(rule).ok()).collect()
    }
}

/// Nothing is held against an object where nothing evaluates.
#[cfg(not(feature = "cel"))]
pub(crate) fn check(
    _: &Value,
    _: Option<&Value>,
    _: &super::schema::Schema,
    _: bool,
) -> Vec<webhook::field::Error> {
    Vec::new()
}

/// Every rule is taken where nothing reads it.
#[cfg(not(feature = "cel"))]
pub(crate) fn unreadable(_: &str) -> Option<String> {
    None
}
