//! What the tests of ShootValidator's parts share.

use api::garden::shoot::ShootSpec;
use jiff::Timestamp;
use serde_json::Value;

/// The time of all tests.
pub(super) fn now() -> Timestamp {
    "2024-06-01T00:00:00Z".parse().unwrap()
}

/// A spec.
pub(super) fn spec(value: Value) -> ShootSpec {
    serde_json::from_value(value).unwrap()
}

/// Errors as texts.
pub(super) fn texts<'a>(errors: impl IntoIterator<Item = &'a webhook::field::Error>) -> Vec<String> {
    errors.into_iter().map(ToString::to_string).collect()
}
