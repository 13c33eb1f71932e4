//! When the credential was last rotated, and whether managed Secrets must be renewed.

use std::collections::BTreeMap;
use std::num::IntErrorKind;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::Secret;
use kube::ResourceExt as _;

/// What the credential is for: the value of the label [`FOR`].
pub(super) const CREDENTIAL: &str = "observability-ingress";
/// Label with the time of the rotation that a Secret was made in, in seconds; empty before the first rotation.
pub(super) const ROTATED: &str = "last-rotation-initiation-time";
/// Label with the time from which a Secret is valid, in seconds.
pub(super) const ISSUED: &str = "issued-at-time";
/// Label with the time until which it is valid; most Secrets have none.
const VALID_UNTIL: &str = "valid-until-time";
/// Label with the purpose of a Secret; the Secret's own name also contains the version.
pub(super) const FOR: &str = "name";
/// The data of a certificate authority, which nothing renews automatically.
const AUTHORITY: [&str; 2] = ["ca.crt", "ca.key"];
/// A Secret is renewed this long before it is no longer valid.
const RESERVE: i128 = 10 * 24 * 60 * 60 * NANOS;
const NANOS: i128 = 1_000_000_000;

/// A label that is no time; the text is Go's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("strconv.ParseInt: parsing {text:?}: {reason}")]
pub struct LabelTimeError {
    text: String,
    reason: &'static str,
}

/// Reads a time in seconds.
pub(super) fn seconds(text: &str) -> Result<i64, LabelTimeError> {
    text.parse().map_err(|error: std::num::ParseIntError| {
        let is_large = matches!(error.kind(), IntErrorKind::PosOverflow | IntErrorKind::NegOverflow);
        let reason = if is_large { "value out of range" } else { "invalid syntax" };
        LabelTimeError { text: text.to_owned(), reason }
    })
}

/// The last rotation of the credential as its newest Secret says, or now if that must be renewed. GCM-BOO-010, GCM-BOO-011.
///
/// # Errors
/// When labels of a managed Secret are no times.
pub(super) fn last_rotation(managed: &[Secret], now: Timestamp) -> Result<String, LabelTimeError> {
    let mut rotated = String::new();
    for (name, secret) in newest(managed) {
        if name == CREDENTIAL {
            label(secret, ROTATED).clone_into(&mut rotated);
        }
        if must_be_renewed(secret, now)? && name == CREDENTIAL {
            rotated = now.as_second().to_string();
        }
    }
    Ok(rotated)
}

/// The newest Secret for each name; of Secrets of the same age the first.
fn newest(managed: &[Secret]) -> BTreeMap<&str, &Secret> {
    let mut newest: BTreeMap<&str, &Secret> = BTreeMap::new();
    for secret in managed {
        let known = newest.entry(label(secret, FOR)).or_insert(secret);
        if known.metadata.creation_timestamp < secret.metadata.creation_timestamp {
            *known = secret;
        }
    }
    newest
}

/// Whether 80 % of its validity, or all but ten days, are over.
fn must_be_renewed(secret: &Secret, now: Timestamp) -> Result<bool, LabelTimeError> {
    let (issued, valid_until) = (label(secret, ISSUED), label(secret, VALID_UNTIL));
    let is_authority =
        AUTHORITY.iter().all(|key| secret.data.as_ref().is_some_and(|data| data.contains_key(*key)));
    if is_authority || issued.is_empty() || valid_until.is_empty() {
        return Ok(false);
    }
    let (issued, until) = (i128::from(seconds(issued)?), i128::from(seconds(valid_until)?));
    let renewed = (issued + (until - issued) * 80 / 100) * NANOS;
    let now = now.as_nanosecond();
    Ok(now > renewed || now > until * NANOS - RESERVE)
}

/// A label's value; empty if there is none.
pub(super) fn label<'a>(secret: &'a Secret, name: &str) -> &'a str {
    secret.labels().get(name).map_or("", String::as_str)
}
