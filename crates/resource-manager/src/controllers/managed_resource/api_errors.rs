//! Classifies errors of API servers, and formats them for conditions and the log.

use kube::core::Status;

/// The API server's message, without the client's additions.
#[must_use]
pub(super) fn describe_error(error: &kube::Error) -> String {
    match error {
        kube::Error::Api(status) if !status.message.is_empty() => status.message.clone(),
        other => other.to_string(),
    }
}

/// Whether the object, or its kind, does not exist.
#[must_use]
pub(super) fn is_not_found(error: &kube::Error) -> bool {
    status(error).is_some_and(|status| status.code == 404)
}

/// Whether the kind itself is not served: the error names no object.
#[must_use]
pub(super) fn is_kind_absent(error: &kube::Error) -> bool {
    status(error).is_some_and(|status| {
        let named = status.details.as_ref().is_some_and(|details| !details.name.is_empty());
        status.code == 404 && !named
    })
}

/// Whether another client has written the object in the meantime.
#[must_use]
pub(super) fn is_conflict(error: &kube::Error) -> bool {
    status(error).is_some_and(|status| status.code == 409 && status.reason == "Conflict")
}

/// Whether the request may have succeeded: the API server did not reject it.
#[must_use]
pub(super) fn is_unclear(error: &kube::Error) -> bool {
    status(error).is_none_or(|status| status.code >= 500)
}

/// Whether the API server considers the object invalid.
#[must_use]
pub(super) fn is_invalid(error: &kube::Error) -> bool {
    status(error).is_some_and(|status| status.code == 422 && status.reason == "Invalid")
}

/// Whether an update failed because the object is declared immutable.
#[must_use]
pub(super) fn is_immutable(error: &kube::Error) -> bool {
    const WORDS: &str = "field is immutable when `immutable` is set";
    let causes = status(error).and_then(|status| status.details.as_ref()).map(|details| &details.causes);
    // The original only checks the first cause of this kind.
    let forbidden = causes.into_iter().flatten().find(|cause| cause.reason == "FieldValueForbidden");
    forbidden.is_some_and(|cause| cause.message.contains(WORDS))
}

fn status(error: &kube::Error) -> Option<&Status> {
    match error {
        kube::Error::Api(status) => Some(status),
        _ => None,
    }
}
