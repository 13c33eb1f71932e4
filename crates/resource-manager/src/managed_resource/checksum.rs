//! The checksum over what the Secrets say, by which a change is noticed across restarts.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

/// `status.secretsDataChecksum` in the making.
///
/// For every object that is managed, the whole value that describes it is fed, so a value of several documents counts
/// as often. That is how the original sums up, and a ManagedResource that changes hands must not look changed.
#[derive(Clone, Debug, Default)]
pub struct Checksum(Sha256);

impl Checksum {
    /// Feeds the value that one object stands in.
    pub fn feed(&mut self, value: &[u8]) {
        self.0.update(value);
    }

    /// Hexadecimal SHA-256.
    #[must_use]
    pub fn finish(self) -> String {
        self.0.finalize().iter().fold(String::with_capacity(64), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
    }
}
