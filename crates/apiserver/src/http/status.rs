//! Kubernetes' errors: `Status` objects with code, reason, message and details.

use serde_json::{Map, Value, json};
use webhook::field;

use crate::http::notes::Notes;

/// An error response.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Status {
    /// HTTP status and `code`.
    pub(crate) code: u16,
    /// `NotFound`, `Conflict`; may be empty.
    pub(crate) reason: String,
    /// The message for the user.
    pub(crate) message: String,
    /// `group`, `kind`, `name`, `uid`, `causes`, `retryAfterSeconds`.
    pub(crate) details: Map<String, Value>,
    /// Whether empty details are included, as in errors that concern no particular resource.
    pub(crate) bare: bool,
    /// The token to continue an expired list.
    pub(crate) continue_token: Option<String>,
    /// Warnings and audit annotations until the error.
    pub(crate) notes: Box<Notes>,
}

/// A resource in error messages: `deployments.apps`, `pods`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GroupResource<'a> {
    /// API group.
    pub(crate) group: &'a str,
    /// Plural name.
    pub(crate) resource: &'a str,
}

impl std::fmt::Display for GroupResource<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.group.is_empty() {
            f.write_str(self.resource)
        } else {
            write!(f, "{}.{}", self.resource, self.group)
        }
    }
}

impl Status {
    /// An error without details.
    pub(crate) fn plain(code: u16, reason: &str, message: impl Into<String>) -> Self {
        Self {
            code,
            reason: reason.to_owned(),
            message: message.into(),
            details: Map::new(),
            bare: false,
            continue_token: None,
            notes: Box::default(),
        }
    }

    fn about(code: u16, reason: &str, of: GroupResource<'_>, name: &str, message: String) -> Self {
        let mut details = Map::new();
        for (key, value) in [("group", of.group), ("kind", of.resource), ("name", name)] {
            if !value.is_empty() {
                details.insert(key.to_owned(), value.into());
            }
        }
        Self {
            code,
            reason: reason.to_owned(),
            message,
            details,
            bare: false,
            continue_token: None,
            notes: Box::default(),
        }
    }

    /// `pods "x" not found`.
    pub(crate) fn not_found(of: GroupResource<'_>, name: &str) -> Self {
        Self::about(404, "NotFound", of, name, format!("{of} {} not found", field::quote(name)))
    }

    /// `pods "x" already exists`.
    pub(crate) fn already_exists(of: GroupResource<'_>, name: &str) -> Self {
        Self::about(409, "AlreadyExists", of, name, format!("{of} {} already exists", field::quote(name)))
    }

    /// The generated names of a `generateName` are all in use.
    pub(crate) fn generate_name_conflict(of: GroupResource<'_>, name: &str) -> Self {
        let message = format!(
            "{of} {} already exists, the server was not able to generate a unique name for the object",
            field::quote(name)
        );
        let mut status = Self::about(409, "AlreadyExists", of, name, message);
        status.details.insert("retryAfterSeconds".to_owned(), 1.into());
        status
    }

    /// `Operation cannot be fulfilled on pods "x": …`.
    pub(crate) fn conflict(of: GroupResource<'_>, name: &str, why: &str) -> Self {
        Self::about(
            409,
            "Conflict",
            of,
            name,
            format!("Operation cannot be fulfilled on {of} {}: {why}", field::quote(name)),
        )
    }

    /// A write with an outdated resourceVersion.
    pub(crate) fn outdated(of: GroupResource<'_>, name: &str) -> Self {
        let why =
            "the object has been modified; please apply your changes to the latest version and try again";
        Self::conflict(of, name, why)
    }

    /// `pods "x" is forbidden: …`.
    pub(crate) fn forbidden(of: GroupResource<'_>, name: &str, why: &str) -> Self {
        let message = if name.is_empty() {
            format!("{of} is forbidden: {why}")
        } else {
            format!("{of} {} is forbidden: {why}", field::quote(name))
        };
        Self::about(403, "Forbidden", of, name, message)
    }

    /// `Pod "x" is invalid: …` with a cause for each field.
    pub(crate) fn invalid(group: &str, kind: &str, name: &str, errors: &[field::Error]) -> Self {
        let of = GroupResource { group, resource: kind };
        let message = format!("{of} {} is invalid: {}", field::quote(name), field::aggregate(errors));
        let mut status = Self::about(422, "Invalid", of, name, message);
        let cause = |error: &field::Error| json!({"reason": error.kind.reason(), "message": error.body(), "field": error.field});
        status.details.insert("causes".to_owned(), errors.iter().map(cause).collect());
        status
    }

    /// A malformed request.
    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self::plain(400, "BadRequest", message)
    }

    /// A compacted revision.
    pub(crate) fn expired(message: impl Into<String>) -> Self {
        Self::plain(410, "Expired", message)
    }

    /// An internal error of the server or a webhook.
    pub(crate) fn internal(why: &str) -> Self {
        let mut status = Self::plain(500, "InternalError", format!("Internal error occurred: {why}"));
        status.details.insert("causes".to_owned(), json!([{"message": why}]));
        status
    }

    /// An internal error with only a message.
    pub(crate) fn failure(message: impl Into<String>) -> Self {
        Self::plain(500, "", message)
    }

    /// An error that concerns no particular resource.
    pub(crate) fn generic(code: u16, reason: &str, message: &str) -> Self {
        Self { bare: true, ..Self::plain(code, reason, message) }
    }

    /// A verb that the resource does not support.
    pub(crate) fn method_not_allowed() -> Self {
        let message = "the server does not allow this method on the requested resource";
        Self::generic(405, "MethodNotAllowed", message)
    }

    /// A verb that a custom resource or its subresource does not support.
    pub(crate) fn method_not_supported(of: GroupResource<'_>, verb: &str) -> Self {
        let message = format!("{verb} is not supported on resources of kind \"{of}\"");
        Self::about(405, "MethodNotAllowed", of, "", message)
    }

    /// A body of an unsupported media type.
    pub(crate) fn unsupported_media_type(accepted: &[&str]) -> Self {
        let accepted = accepted.join(", ");
        let message = format!(
            "the body of the request was in an unknown format - accepted media types include: {accepted}"
        );
        Self::plain(415, "UnsupportedMediaType", message)
    }

    /// An `Accept` header without a supported media type.
    pub(crate) fn not_acceptable(accepted: &[&str]) -> Self {
        let message = format!("only the following media types are accepted: {}", accepted.join(", "));
        Self::plain(406, "NotAcceptable", message)
    }

    /// [`Self::not_acceptable`] for built-in resources; for lists, it names the media types of watches too.
    pub(crate) fn not_acceptable_built_in(list: bool) -> Self {
        let forms = "application/json, application/yaml, application/vnd.kubernetes.protobuf";
        let followed = ", application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch";
        let followed = if list { followed } else { "" };
        let message = format!("406: Not Acceptable\n\nAvailable representations: {forms}{followed}");
        Self::generic(406, "NotAcceptable", &message)
    }

    /// Adds notes, which are sent with the error.
    pub(crate) fn with_notes(mut self, notes: &Notes) -> Self {
        self.notes.extend(notes.clone());
        self
    }

    /// The `Status` object.
    pub(crate) fn json(&self) -> Value {
        let mut status = json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "code": self.code,
        });
        if !self.message.is_empty() {
            status["message"] = self.message.as_str().into();
        }
        if !self.reason.is_empty() {
            status["reason"] = self.reason.as_str().into();
        }
        if let Some(token) = &self.continue_token {
            status["metadata"]["continue"] = token.as_str().into();
        }
        if self.bare || !self.details.is_empty() {
            status["details"] = Value::Object(self.details.clone());
        }
        status
    }
}
