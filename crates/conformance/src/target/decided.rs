//! What a target decides about versions.

use serde_json::Value;

use crate::exchange::{Answer, FieldCause};

/// What a target decides about versions.
#[derive(Clone, Debug, PartialEq)]
pub enum Decided {
    /// What comes of it, told as a document: `{shoot: {…}, told: […]}`.
    Told(Value),
    /// It is refused, for these.
    Refused(Vec<FieldCause>),
    /// It cannot be decided, in these words.
    Undecided(String),
}

impl Decided {
    /// As an answer: the document is its object, field errors are its causes.
    #[must_use]
    pub(crate) fn into_answer(self) -> Answer {
        match self {
            Self::Told(document) => Answer { allowed: true, object: Some(document), ..Answer::default() },
            Self::Refused(causes) => Answer { causes, ..Answer::default() },
            Self::Undecided(message) => Answer { message: Some(message), ..Answer::default() },
        }
    }
}
