//! The checksum over the content of the Secrets, which shows changes across restarts.

use std::fmt::Write as _;

use aws_lc_rs::digest::{Context, SHA256};

/// GRM-MR-010: computes `status.secretsDataChecksum`.
///
/// It covers the whole value once for every managed object, so a value of several documents counts several times. The
/// original does the same, and a ManagedResource that it applied must not look changed.
#[derive(Clone)]
pub struct Checksum(Context);

impl Default for Checksum {
    fn default() -> Self {
        Self(Context::new(&SHA256))
    }
}

impl Checksum {
    /// Adds the value that describes one object.
    pub fn feed(&mut self, value: &[u8]) {
        self.0.update(value);
    }

    /// Hexadecimal SHA-256.
    #[must_use]
    pub fn finish(self) -> String {
        self.0.finish().as_ref().iter().fold(String::with_capacity(64), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    /// Values, and the result of `sha256sum` over their concatenation.
    #[rstest]
    #[case::nothing(&[], "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")]
    #[case::one(&["abc"], "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")]
    #[case::in_pieces(&["a", "", "bc"], "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")]
    #[case::twice(&["abc", "abc"], "bbb59da3af939f7af5f360f2ceb80a496e3bae1cd87dde426db0ae40677e1c2c")]
    fn the_checksum_covers_the_concatenated_values(#[case] values: &[&str], #[case] wanted: &str) {
        let mut checksum = Checksum::default();
        for value in values {
            checksum.feed(value.as_bytes());
        }
        assert_eq!(checksum.finish(), wanted);
    }
}
