//! What webhooks say beside their verdict.

use std::collections::BTreeMap;

/// Warnings and audit annotations, collected while a request is answered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Notes {
    /// Shown to the user, each once.
    warnings: Vec<String>,
    /// For the audit log, as `webhook/key`.
    pub(crate) annotations: BTreeMap<String, String>,
    /// Whether the object does not lie as it is read, so that writing it once more is a write.
    pub(crate) rough: bool,
    /// Whether it says of a list or map that nothing is in it, where kube-apiserver tells that from saying nothing.
    pub(crate) empties: bool,
}

impl Notes {
    /// What is shown to the user.
    pub(crate) fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Warns the user; nothing is told twice.
    pub(crate) fn warn(&mut self, warnings: impl IntoIterator<Item = String>) {
        for warning in warnings {
            if !warning.is_empty() && !self.warnings.contains(&warning) {
                self.warnings.push(warning);
            }
        }
    }

    /// Adds those of another part of the same request.
    pub(crate) fn extend(&mut self, other: Self) {
        self.warn(other.warnings);
        self.annotations.extend(other.annotations);
        self.rough |= other.rough;
        self.empties |= other.empties;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_told_twice() {
        let mut notes = Notes::default();
        notes.warn(["a", "", "b", "a"].map(str::to_owned));
        let mut other = Notes::default();
        other.warn(["c", "b"].map(str::to_owned));
        notes.extend(other);
        assert_eq!(notes.warnings(), ["a", "b", "c"]);
    }
}
