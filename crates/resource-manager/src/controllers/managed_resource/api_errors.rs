//! What errors of the API server are called in conditions and in the log.

use kube::core::Status;

/// The API server's own words, without what the client says around them.
#[must_use]
pub(super) fn describe_error(error: &kube::Error) -> String {
    match error {
        kube::Error::Api(status) if !status.message.is_empty() => status.message.clone(),
        other => other.to_string(),
    }
}

/// Whether the object, or its kind, is not there.
#[must_use]
pub(super) fn is_not_found(error: &kube::Error) -> bool {
    status(error).is_some_and(|status| status.code == 404)
}

/// Whether the kind itself is not served: no object is named.
#[must_use]
pub(super) fn is_kind_absent(error: &kube::Error) -> bool {
    status(error).is_some_and(|status| {
        let named = status.details.as_ref().is_some_and(|details| !details.name.is_empty());
        status.code == 404 && !named
    })
}

/// Whether an object of the name is there already.
#[must_use]
pub(super) fn is_already_there(error: &kube::Error) -> bool {
    status(error).is_some_and(|status| status.code == 409 && status.reason == "AlreadyExists")
}

/// Whether somebody else was faster.
#[must_use]
pub(super) fn is_conflict(error: &kube::Error) -> bool {
    status(error).is_some_and(|status| status.code == 409 && status.reason == "Conflict")
}

/// Whether nobody knows what became of a request: it was not refused for what it asks.
#[must_use]
pub(super) fn is_unclear(error: &kube::Error) -> bool {
    status(error).is_none_or(|status| status.code >= 500)
}

/// Whether the object is not as its kind allows.
#[must_use]
pub(super) fn is_invalid(error: &kube::Error) -> bool {
    status(error).is_some_and(|status| status.code == 422 && status.reason == "Invalid")
}

/// Whether an update failed because the object was declared immutable.
#[must_use]
pub(super) fn is_immutable(error: &kube::Error) -> bool {
    const WORDS: &str = "field is immutable when `immutable` is set";
    let causes = status(error).and_then(|status| status.details.as_ref()).map(|details| &details.causes);
    // The original looks at the first cause of this kind only.
    let forbidden = causes.into_iter().flatten().find(|cause| cause.reason == "FieldValueForbidden");
    forbidden.is_some_and(|cause| cause.message.contains(WORDS))
}

fn status(error: &kube::Error) -> Option<&Status> {
    match error {
        kube::Error::Api(status) => Some(status),
        _ => None,
    }
}
