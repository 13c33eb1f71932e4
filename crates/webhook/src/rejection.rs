//! Rejections: a status code, a reason, a message, and the field errors of an invalid object.

use serde_json::{Map, Value, json};

use crate::field;
use crate::object::WrongType;

/// The rejection of a request; becomes the status of the answer.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct Rejection {
    /// HTTP-like code, 403 by default.
    pub code: u16,
    /// `Forbidden`, `Invalid`, `NotFound` and so on; empty for none.
    pub reason: String,
    /// Message for the user.
    pub message: String,
    /// `name`, `group`, `kind` and `causes` of an API status; `None` for a rejection without details.
    pub details: Option<Map<String, Value>>,
    /// The field errors of an invalid object, which message and details contain already.
    pub errors: Vec<field::Error>,
}

impl Rejection {
    /// 403 `Forbidden`, for a failed mutation or validation.
    #[must_use]
    pub fn forbidden(message: impl Into<String>) -> Self {
        Self {
            code: 403,
            reason: "Forbidden".to_owned(),
            message: message.into(),
            details: None,
            errors: Vec::new(),
        }
    }

    /// 400 without a reason: the object cannot be decoded.
    #[must_use]
    pub fn undecodable(message: impl Into<String>) -> Self {
        Self::errored(400, message)
    }

    /// Any other code without a reason, such as 500 if a read from the cluster failed.
    #[must_use]
    pub fn errored(code: u16, message: impl Into<String>) -> Self {
        Self { code, reason: String::new(), message: message.into(), details: None, errors: Vec::new() }
    }

    /// A complete API status, such as that of another API call: code, reason, message and details are not changed.
    #[must_use]
    pub fn status(
        code: u16,
        reason: impl Into<String>,
        message: impl Into<String>,
        details: Map<String, Value>,
    ) -> Self {
        Self {
            code,
            reason: reason.into(),
            message: message.into(),
            details: Some(details),
            errors: Vec::new(),
        }
    }

    /// 422 `Invalid`: `<Kind>.<group> "<name>" is invalid: …` with one cause per error.
    #[must_use]
    pub fn invalid(group: &str, kind: &str, name: &str, errors: &[field::Error]) -> Self {
        let qualified = if group.is_empty() { kind.to_owned() } else { format!("{kind}.{group}") };
        let mut message = format!("{qualified} {} is invalid", field::quote(name));
        if !errors.is_empty() {
            message.push_str(": ");
            message.push_str(&field::aggregate(errors));
        }
        let mut details = Map::new();
        for (field, value) in [("name", name), ("group", group), ("kind", kind)] {
            if !value.is_empty() {
                details.insert(field.to_owned(), json!(value));
            }
        }
        if !errors.is_empty() {
            details.insert("causes".to_owned(), errors.iter().map(cause).collect());
        }
        Self { errors: errors.to_vec(), ..Self::status(422, "Invalid", message, details) }
    }
}

impl From<WrongType> for Rejection {
    fn from(error: WrongType) -> Self {
        Self::undecodable(error.to_string())
    }
}

fn cause(error: &field::Error) -> Value {
    json!({"reason": error.kind.reason(), "message": error.body(), "field": error.field})
}
