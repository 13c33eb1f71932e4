//! Failures that waiting did not remove. A case that fails like an earlier one hardly waits for the target's caches:
//! they will not have the missing object for it either.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::report::Check;

/// How long a case is retried that fails as an earlier one did to the end: some informers' lags.
const SHORT: Duration = Duration::from_millis(100);

/// The kinds of failures that stayed until the end of a case's retries.
#[derive(Default)]
pub(crate) struct LastingFailures(Mutex<BTreeSet<String>>);

impl LastingFailures {
    /// How long a case that fails in this way is retried, at most `settle`.
    pub(super) fn retry_for(&self, kind: &str, settle: Duration) -> Duration {
        if self.lock().contains(kind) { SHORT.min(settle) } else { settle }
    }

    /// Records that a case failed in this way after all retries.
    pub(super) fn add(&self, kind: String) {
        self.lock().insert(kind);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeSet<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The kind of a failure: the webhook, and what was wrong where, without numbers and the names of objects.
pub(super) fn kind(webhook: &str, checks: &[Check]) -> String {
    let checks =
        checks.iter().map(|check| format!("{} {} {}", check.part, shape(&check.path), shape(&check.got)));
    std::iter::once(webhook.to_owned()).chain(checks).collect::<Vec<_>>().join("\n")
}

/// A text without quoted words and without words that have a digit or several hyphens, such as versions and namespaces.
fn shape(text: &str) -> String {
    let is_delimiter = |letter: char| letter.is_whitespace() || "\"'`,:;()[]/".contains(letter);
    let is_name = |word: &str| word.contains(|letter: char| letter.is_ascii_digit()) || word.contains("--");
    let words = text.split(is_delimiter).filter(|word| !word.is_empty());
    words.map(|word| if is_name(word) { "#" } else { word }).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(message: &str) -> Check {
        let text = str::to_owned;
        Check {
            part: text("allowed"),
            want: text("true"),
            got: format!("false (500): {message}"),
            ..Check::default()
        }
    }

    #[test]
    fn messages_about_other_objects_of_one_kind_are_of_one_kind() {
        let kind = |webhook: &str, message: &str| kind(webhook, &[refusal(message)]);
        let first =
            "could not get cluster for namespace 'shoot--dev--app': clusters \"shoot--dev--app\" not found";
        let other = "could not get cluster for namespace 'case-0000-1-2-3-4-0': clusters \"case-0000-1-2-3-4-0\" not found";
        assert_eq!(kind("controlplane", first), kind("controlplane", other));
        assert_ne!(kind("controlplane", first), kind("controlplaneexposure", first));
        assert_ne!(kind("controlplane", first), kind("controlplane", "secrets \"cloudprovider\" not found"));
    }

    #[test]
    fn a_known_kind_shortens_the_retries_but_never_prolongs_them() {
        let failures = LastingFailures::default();
        let settle = Duration::from_secs(2);
        assert_eq!(failures.retry_for("a", settle), settle);
        failures.add("a".to_owned());
        assert_eq!(failures.retry_for("a", settle), SHORT);
        assert_eq!(failures.retry_for("a", Duration::ZERO), Duration::ZERO);
        assert_eq!(failures.retry_for("b", settle), settle);
    }
}
