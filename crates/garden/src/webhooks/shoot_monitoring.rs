//! The receivers of a Shoot's alerts.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use api::garden::shoot::ShootSpec;
use formats::pattern::Pattern;
use webhook::field::{Error, Path};

use super::field_errors::FieldErrors;

static EMAIL: LazyLock<Option<Pattern>> =
    LazyLock::new(|| Pattern::new(r"^[^@]+@(?:[a-zA-Z-0-9]+\.)+[a-zA-Z]{2,}$").ok());

/// Receivers have addresses of email, each once: GDN-SMO-001.
pub(super) fn validate(spec: &ShootSpec, at: &Path) -> FieldErrors {
    let alerting = spec.monitoring.as_ref().and_then(|monitoring| monitoring.alerting.as_ref());
    let at = at.child("monitoring").child("alerting").child("emailReceivers");
    let (mut errors, mut seen) = (FieldErrors::new(), BTreeSet::new());
    for (index, email) in alerting.iter().flat_map(|alerting| &alerting.email_receivers).enumerate() {
        let at = at.index(index);
        if EMAIL.as_ref().is_some_and(|pattern| !pattern.is_match(email)) {
            errors.push(Error::invalid(&at, email, "must provide a valid email"));
        }
        if !seen.insert(email) {
            errors.push(Error::duplicate(&at, email));
        }
    }
    errors
}
