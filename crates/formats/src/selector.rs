//! Label selectors, as objects (`matchLabels`, `matchExpressions`) or text (`a=b,c in (d,e),!f`), and field selectors as text.

mod fields;
mod text;

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize};

use crate::name;

pub use fields::{FieldSelector, FieldTerm};
pub use text::ParseError;

/// Selects by labels; all requirements must hold. An empty selector selects everything.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LabelSelector {
    /// Labels and their values.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", deserialize_with = "null_is_empty")]
    pub match_labels: BTreeMap<String, String>,
    /// Further requirements.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "null_is_empty")]
    pub match_expressions: Vec<Requirement>,
}

/// One requirement on one label.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Requirement {
    /// Label key.
    pub key: String,
    /// How the label is compared.
    pub operator: Operator,
    /// Values compared with; empty for `Exists` and `DoesNotExist`.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "null_is_empty")]
    pub values: Vec<String>,
}

/// How a requirement compares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Operator {
    /// The label exists with one of the values.
    #[default]
    In,
    /// The label is absent or has none of the values.
    NotIn,
    /// The label exists.
    Exists,
    /// The label is absent.
    DoesNotExist,
    /// The label is an integer greater than the value; only in texts and node selectors.
    Gt,
    /// The label is an integer less than the value; only in texts and node selectors.
    Lt,
}

/// An error in a selector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Path below the selector, such as `matchExpressions[0].values`.
    pub field: String,
    /// Type of the error.
    pub kind: ViolationKind,
    /// Kubernetes' message.
    pub message: String,
}

/// Type of an error in a selector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ViolationKind {
    /// The field must be set.
    Required,
    /// The field must not be set.
    Forbidden,
    /// This value is malformed.
    Invalid(String),
}

impl Operator {
    /// Kubernetes' name of the operator: `NotIn`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::In => "In",
            Self::NotIn => "NotIn",
            Self::Exists => "Exists",
            Self::DoesNotExist => "DoesNotExist",
            Self::Gt => "Gt",
            Self::Lt => "Lt",
        }
    }
}

impl LabelSelector {
    /// Whether it selects everything.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.match_labels.is_empty() && self.match_expressions.is_empty()
    }

    /// Whether an object with these labels is selected.
    #[must_use]
    pub fn matches(&self, labels: &BTreeMap<String, String>) -> bool {
        self.matches_by(|key| labels.get(key).map(String::as_str))
    }

    /// Whether an object is selected; `lookup` returns its labels.
    #[must_use]
    pub fn matches_by<'a>(&self, lookup: impl Fn(&str) -> Option<&'a str>) -> bool {
        self.match_labels.iter().all(|(key, value)| lookup(key) == Some(value))
            && self.match_expressions.iter().all(|requirement| requirement.matches(lookup(&requirement.key)))
    }

    /// The errors that an API server would report; empty if the selector is valid.
    #[must_use]
    pub fn validate(&self) -> Vec<Violation> {
        let mut violations = Vec::new();
        for (key, value) in &self.match_labels {
            push_invalid(&mut violations, "matchLabels", key, name::label_key(key));
            push_invalid(&mut violations, "matchLabels", value, name::label_value(value));
        }
        for (index, requirement) in self.match_expressions.iter().enumerate() {
            requirement.validate(&format!("matchExpressions[{index}]"), &mut violations);
        }
        violations
    }
}

impl Requirement {
    /// Whether a label with this value (`None`: no such label) fulfils the requirement.
    #[must_use]
    pub fn matches(&self, label: Option<&str>) -> bool {
        let listed = |label: &str| self.values.iter().any(|value| value == label);
        match self.operator {
            Operator::In => label.is_some_and(listed),
            Operator::NotIn => !label.is_some_and(listed),
            Operator::Exists => label.is_some(),
            Operator::DoesNotExist => label.is_none(),
            Operator::Gt => self.integers(label).is_some_and(|(label, bound)| label > bound),
            Operator::Lt => self.integers(label).is_some_and(|(label, bound)| label < bound),
        }
    }

    /// The label and the single value of the requirement, if both are integers.
    fn integers(&self, label: Option<&str>) -> Option<(i64, i64)> {
        let [bound] = self.values.as_slice() else { return None };
        Some((label?.parse().ok()?, bound.parse().ok()?))
    }

    fn validate(&self, at: &str, violations: &mut Vec<Violation>) {
        let values = format!("{at}.values");
        match (self.operator, self.values.is_empty()) {
            (Operator::In | Operator::NotIn, true) => violations.push(Violation {
                field: values.clone(),
                kind: ViolationKind::Required,
                message: "must be specified when `operator` is 'In' or 'NotIn'".to_owned(),
            }),
            (Operator::Exists | Operator::DoesNotExist, false) => violations.push(Violation {
                field: values.clone(),
                kind: ViolationKind::Forbidden,
                message: "may not be specified when `operator` is 'Exists' or 'DoesNotExist'".to_owned(),
            }),
            (Operator::Gt | Operator::Lt, _) => {
                let message = vec!["not a valid selector operator".to_owned()];
                push_invalid(violations, &format!("{at}.operator"), &format!("{:?}", self.operator), message);
            }
            _ => {}
        }
        push_invalid(violations, &format!("{at}.key"), &self.key, name::label_key(&self.key));
        for (index, value) in self.values.iter().enumerate() {
            push_invalid(violations, &format!("{values}[{index}]"), value, name::label_value(value));
        }
    }
}

/// Reads null as empty, because Go writes an absent list or map as null.
fn null_is_empty<'de, D: Deserializer<'de>, T: Default + Deserialize<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    Option::<T>::deserialize(deserializer).map(Option::unwrap_or_default)
}

fn push_invalid(violations: &mut Vec<Violation>, field: &str, value: &str, messages: Vec<String>) {
    violations.extend(messages.into_iter().map(|message| Violation {
        field: field.to_owned(),
        kind: ViolationKind::Invalid(value.to_owned()),
        message,
    }));
}

#[cfg(test)]
mod tests;
