//! Refusals of versions, as field errors of Kubernetes.

use std::fmt;

/// A field error without its path; prints what Kubernetes prints after the path: `Forbidden: …`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The value is invalid.
    Invalid {
        /// The value as Kubernetes prints it: a string in quotes, another value as Go formats it.
        shown: String,
        /// The detail.
        detail: String,
    },
    /// The value is not allowed.
    Forbidden {
        /// The detail.
        detail: String,
    },
    /// The value is not one of the supported ones.
    NotSupported {
        /// The value.
        value: String,
        /// The supported values.
        supported: Vec<String>,
    },
}

impl Refusal {
    pub(crate) fn invalid(value: &str, detail: impl fmt::Display) -> Self {
        Self::Invalid { shown: format!("{value:?}"), detail: detail.to_string() }
    }

    pub(crate) fn forbidden(detail: impl fmt::Display) -> Self {
        Self::Forbidden { detail: detail.to_string() }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid { shown, detail } => write!(formatter, "Invalid value: {shown}: {detail}"),
            Self::Forbidden { detail } => write!(formatter, "Forbidden: {detail}"),
            Self::NotSupported { value, supported } => {
                let supported: Vec<String> = supported.iter().map(|value| format!("{value:?}")).collect();
                write!(formatter, "Unsupported value: {value:?}")?;
                if supported.is_empty() {
                    return Ok(());
                }
                write!(formatter, ": supported values: {}", supported.join(", "))
            }
        }
    }
}
