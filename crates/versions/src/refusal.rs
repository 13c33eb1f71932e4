//! Why a version is refused, as a field error of Kubernetes says it.

use std::fmt;

/// A field error without its path; prints as Kubernetes does behind it: `Forbidden: …`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The value cannot be.
    Invalid {
        /// The value as it is printed: a text in quotes, anything else as Go shows it.
        shown: String,
        /// Why.
        detail: String,
    },
    /// The value may not be.
    Forbidden {
        /// Why.
        detail: String,
    },
    /// The value is none of those that may be.
    NotSupported {
        /// The value.
        value: String,
        /// Those that may be.
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
