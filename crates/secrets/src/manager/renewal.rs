//! When the last rotation of each request began, as existing Secrets say it, or as their end requires it.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::{seconds, store};
use crate::error::{LabelTimeError, SecretsManagerError};
use crate::labels;
use crate::secret::ManagedSecret;

/// A Secret is renewed after this part of its validity, in percent.
const PERCENT: i128 = 80;
/// A Secret is renewed if it ends within ten days, in seconds.
const LAST_DAYS: i128 = 10 * 24 * 60 * 60;
const NANOSECONDS: i128 = 1_000_000_000;

/// The label's value for each request that has a Secret: that of the newest one, or now if that must be renewed.
pub(super) fn rotations<'a>(
    managed: impl Iterator<Item = &'a ManagedSecret>,
    renews_authorities: bool,
    now: Timestamp,
) -> Result<BTreeMap<String, String>, SecretsManagerError> {
    let mut by_request: BTreeMap<&str, Vec<&ManagedSecret>> = BTreeMap::new();
    for secret in managed {
        by_request.entry(secret.label(labels::NAME)).or_default().push(secret);
    }
    let mut rotations = BTreeMap::new();
    for (request, secrets) in by_request {
        let Some(newest) = store::newest(secrets.into_iter()) else { continue };
        let may_renew = renews_authorities || !newest.is_authority();
        let is_due = may_renew && must_renew(newest, now).map_err(|source| at(newest, source))?;
        let rotation =
            if is_due { seconds(now).to_string() } else { newest.label(labels::ROTATION).to_owned() };
        rotations.insert(request.to_owned(), rotation);
    }
    Ok(rotations)
}

fn must_renew(secret: &ManagedSecret, now: Timestamp) -> Result<bool, LabelTimeError> {
    let issued = store::time(secret, labels::ISSUED_AT)?;
    let until = store::time(secret, labels::VALID_UNTIL)?;
    let (Some(issued), Some(until)) = (issued, until) else { return Ok(false) };
    let (issued, until) = (i128::from(issued), i128::from(until));
    let renew_at = issued + (until - issued) * PERCENT / 100;
    let is_after = |seconds: i128| now.as_nanosecond() > seconds * NANOSECONDS;
    Ok(is_after(renew_at) || is_after(until - LAST_DAYS))
}

fn at(secret: &ManagedSecret, source: LabelTimeError) -> SecretsManagerError {
    SecretsManagerError { namespace: secret.namespace.clone(), name: secret.name.clone(), source }
}
