//! What was generated for a request.

use jiff::Timestamp;

use crate::error::LabelTimeError;
use crate::labels;
use crate::options::{GenerateOptions, RotationStrategy};
use crate::secret::ManagedSecret;

/// The Secrets of a request.
#[derive(Clone, Debug)]
pub(super) struct KnownSecrets {
    pub(super) current: ManagedSecret,
    pub(super) old: Option<ManagedSecret>,
    pub(super) bundle: Option<ManagedSecret>,
}

impl KnownSecrets {
    /// Whether a Secret of this name is one of them.
    pub(super) fn has(&self, name: &str) -> bool {
        let mut all = std::iter::once(&self.current).chain(&self.old).chain(&self.bundle);
        all.any(|secret| secret.name == name)
    }
}

/// Refuses a Secret whose rotation has no time.
pub(super) fn check(secret: &ManagedSecret) -> Result<(), LabelTimeError> {
    time(secret, labels::ROTATION).map(drop)
}

/// Whether the old Secret is kept beside the current one.
pub(super) fn keeps_old(
    current: &ManagedSecret,
    options: &GenerateOptions,
    now: Timestamp,
) -> Result<bool, LabelTimeError> {
    if options.rotation != RotationStrategy::KeepOld || options.ignore_old {
        return Ok(false);
    }
    let Some(longest) = options.ignore_old_after else { return Ok(true) };
    let Some(issued) = time(current, labels::ISSUED_AT)? else { return Ok(true) };
    let age = now.as_nanosecond() - i128::from(issued) * 1_000_000_000;
    Ok(age < i128::try_from(longest.as_nanos()).unwrap_or(i128::MAX))
}

/// The Secret that was created last, the first of those created at the same time.
pub(super) fn newest<'a>(secrets: impl Iterator<Item = &'a ManagedSecret>) -> Option<&'a ManagedSecret> {
    secrets.reduce(|newest, secret| if newest.created < secret.created { secret } else { newest })
}

/// The seconds in a label; `None` if it is absent or empty.
pub(super) fn time(secret: &ManagedSecret, label: &'static str) -> Result<Option<i64>, LabelTimeError> {
    let value = secret.label(label);
    if value.is_empty() {
        return Ok(None);
    }
    value.parse().map(Some).map_err(|_| LabelTimeError { label, value: value.to_owned() })
}
