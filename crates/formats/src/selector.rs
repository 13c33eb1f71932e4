//! Selectors: labels by objects (`matchLabels`, `matchExpressions`) or text (`a=b,c in (d,e),!f`), fields by text.

mod fields;
mod text;

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize};

use crate::name;

pub use fields::{FieldSelector, FieldTerm};
pub use text::ParseError;

/// Selects by labels; all requirements hold. Empty selects everything.
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
    /// How it is compared.
    pub operator: Operator,
    /// Values compared with; empty for `Exists` and `DoesNotExist`.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "null_is_empty")]
    pub values: Vec<String>,
}

/// How a requirement compares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Operator {
    /// The label is there with one of the values.
    #[default]
    In,
    /// The label is absent or has none of the values.
    NotIn,
    /// The label is there.
    Exists,
    /// The label is absent.
    DoesNotExist,
    /// The label is an integer greater than the value; in texts and node selectors only.
    Gt,
    /// The label is an integer less than the value; in texts and node selectors only.
    Lt,
}

/// What is wrong with a selector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Path below the selector, such as `matchExpressions[0].values`.
    pub field: String,
    /// How it is wrong.
    pub kind: ViolationKind,
    /// In Kubernetes' words.
    pub message: String,
}

/// How a field of a selector is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ViolationKind {
    /// It must be given.
    Required,
    /// It must not be given.
    Forbidden,
    /// This value is malformed.
    Invalid(String),
}

impl Operator {
    /// `NotIn`: as Kubernetes writes it.
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

    /// Whether an object is selected whose labels `lookup` finds.
    #[must_use]
    pub fn matches_by<'a>(&self, lookup: impl Fn(&str) -> Option<&'a str>) -> bool {
        self.match_labels.iter().all(|(key, value)| lookup(key) == Some(value))
            && self.match_expressions.iter().all(|requirement| requirement.matches(lookup(&requirement.key)))
    }

    /// What an API server would refuse; empty if all is well.
    #[must_use]
    pub fn validate(&self) -> Vec<Violation> {
        let mut violations = Vec::new();
        for (key, value) in &self.match_labels {
            invalid(&mut violations, "matchLabels", key, name::label_key(key));
            invalid(&mut violations, "matchLabels", value, name::label_value(value));
        }
        for (index, requirement) in self.match_expressions.iter().enumerate() {
            requirement.validate(&format!("matchExpressions[{index}]"), &mut violations);
        }
        violations
    }
}

impl Requirement {
    /// Whether a label with this value, or its absence, fulfils the requirement.
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

    /// The label and the one value compared with, if both are integers.
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
                invalid(violations, &format!("{at}.operator"), &format!("{:?}", self.operator), message);
            }
            _ => {}
        }
        invalid(violations, &format!("{at}.key"), &self.key, name::label_key(&self.key));
        for (index, value) in self.values.iter().enumerate() {
            invalid(violations, &format!("{values}[{index}]"), value, name::label_value(value));
        }
    }
}

/// Go writes an absent list or map as null.
fn null_is_empty<'de, D: Deserializer<'de>, T: Default + Deserialize<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    Option::<T>::deserialize(deserializer).map(Option::unwrap_or_default)
}

fn invalid(violations: &mut Vec<Violation>, field: &str, value: &str, messages: Vec<String>) {
    violations.extend(messages.into_iter().map(|message| Violation {
        field: field.to_owned(),
        kind: ViolationKind::Invalid(value.to_owned()),
        message,
    }));
}

#[cfg(test)]
mod tests;
