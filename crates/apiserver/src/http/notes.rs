//! What webhooks say beside their verdict.

use std::collections::BTreeMap;

/// Warnings and audit annotations, collected while a request is answered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Notes {
    /// Shown to the user.
    pub(crate) warnings: Vec<String>,
    /// For the audit log, as `webhook/key`.
    pub(crate) annotations: BTreeMap<String, String>,
}

impl Notes {
    /// Adds those of another part of the same request.
    pub(crate) fn extend(&mut self, other: Self) {
        self.warnings.extend(other.warnings);
        self.annotations.extend(other.annotations);
    }
}
