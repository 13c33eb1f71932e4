//! What webhooks say beside their verdict.

use std::collections::BTreeMap;

/// Warnings and audit annotations, collected while a request is answered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Notes {
    /// Shown to the user.
    pub(crate) warnings: Vec<String>,
    /// For the audit log, as `webhook/key`.
    pub(crate) annotations: BTreeMap<String, String>,
    /// Whether the object does not lie as it is read, so that writing it once more is a write.
    pub(crate) rough: bool,
}

impl Notes {
    /// Adds those of another part of the same request; nothing is told twice.
    pub(crate) fn extend(&mut self, other: Self) {
        for warning in other.warnings {
            if !self.warnings.contains(&warning) {
                self.warnings.push(warning);
            }
        }
        self.annotations.extend(other.annotations);
        self.rough |= other.rough;
    }
}
