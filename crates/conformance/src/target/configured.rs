//! The result of a trial start with a configuration.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use crate::exchange::{Answer, FieldCause};

/// The result of a trial start with a configuration. Values that cannot be observed are `None`.
#[derive(Clone, Debug, PartialEq)]
pub enum Configured {
    /// The target starts.
    Started {
        /// Warnings about the file.
        warnings: Option<Vec<String>>,
        /// The configuration with all defaults.
        effective: Option<Value>,
    },
    /// The target does not start.
    Refused {
        /// Its message, of one or more lines.
        message: String,
    },
}

/// Kubernetes' field errors, and the reason of each kind of error in a `Status`.
const REASONS: [(&str, &str); 8] = [
    ("Not found", "FieldValueNotFound"),
    ("Required value", "FieldValueRequired"),
    ("Duplicate value", "FieldValueDuplicate"),
    ("Invalid value", "FieldValueInvalid"),
    ("Unsupported value", "FieldValueNotSupported"),
    ("Forbidden", "FieldValueForbidden"),
    ("Too long", "FieldValueTooLong"),
    ("Internal error", "InternalError"),
];

impl Configured {
    /// Converts it to an answer: its object is the effective configuration, its causes are the field errors of a refusal.
    #[must_use]
    pub(crate) fn into_answer(self) -> Answer {
        match self {
            Self::Started { warnings, effective } => Answer {
                allowed: true,
                warnings: warnings.unwrap_or_default(),
                object: effective,
                ..Answer::default()
            },
            Self::Refused { message } => {
                Answer { causes: causes(&message), message: Some(message), ..Answer::default() }
            }
        }
    }
}

/// The distinct field errors in a text: `[a.b: Invalid value: -1: must be positive, c: Required value]`.
pub(crate) fn causes(text: &str) -> Vec<FieldCause> {
    static BEGIN: LazyLock<Regex> = LazyLock::new(|| {
        let kinds = REASONS.map(|(kind, _)| kind).join("|");
        let path = r"[A-Za-z][A-Za-z0-9]*(?:\.[A-Za-z][A-Za-z0-9]*|\[[^\]]*\])*";
        Regex::new(&format!(r"(?:^|[\s\[])({path}): ({kinds})")).expect("a constant")
    });
    let mut found = BTreeSet::new();
    for line in text.lines() {
        let begins: Vec<_> = BEGIN.captures_iter(line).collect();
        for (at, begin) in begins.iter().enumerate() {
            let kind = begin.get(2).expect("the expression has two groups");
            let next = begins.get(at + 1).and_then(|next| next.get(1));
            let rest = match next {
                Some(next) => line[kind.start()..next.start()].trim_end().trim_end_matches(','),
                // The closing bracket of a list belongs to no error.
                None => {
                    without_bracket(line, begins[0].get(1).map_or(0, |first| first.start()), kind.start())
                }
            };
            let reason = REASONS.iter().find(|(name, _)| *name == kind.as_str());
            found.insert(FieldCause {
                field: begin[1].to_owned(),
                reason: reason.map_or("", |(_, reason)| reason).to_owned(),
                message: rest.to_owned(),
            });
        }
    }
    found.into_iter().collect()
}

fn without_bracket(line: &str, first: usize, from: usize) -> &str {
    let rest = line[from..].trim_end();
    if line[..first].ends_with('[') { rest.strip_suffix(']').unwrap_or(rest) } else { rest }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn field_errors_are_parsed_from_a_refusal() {
        let cause = |field: &str, reason: &str, message: &str| FieldCause {
            field: field.to_owned(),
            reason: reason.to_owned(),
            message: message.to_owned(),
        };
        let levels = r#"Unsupported value: "warn": supported values: "debug", "info""#;
        let table = [
            ("no such file", vec![]),
            (
                "burst: Invalid value: -1: must be non-negative",
                vec![cause("burst", "FieldValueInvalid", "Invalid value: -1: must be non-negative")],
            ),
            (
                // The original writes it twice.
                "[a.b[0].c: Required value, logLevel: Unsupported value: \"warn\": supported values: \"debug\", \"info\"]\n\
                 Error: [a.b[0].c: Required value, logLevel: Unsupported value: \"warn\": supported values: \"debug\", \"info\"]",
                vec![
                    cause("a.b[0].c", "FieldValueRequired", "Required value"),
                    cause("logLevel", "FieldValueNotSupported", levels),
                ],
            ),
            (
                "Error: a.b: Invalid value: v1.Duration{Duration:1}: too short",
                vec![cause("a.b", "FieldValueInvalid", "Invalid value: v1.Duration{Duration:1}: too short")],
            ),
        ];
        for (text, want) in table {
            assert_eq!(causes(text), want, "{text}");
        }
    }
}
