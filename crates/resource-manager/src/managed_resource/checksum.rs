//! The checksum over what the Secrets say, by which a change is noticed across restarts.

use std::fmt::Write as _;

use aws_lc_rs::digest::{Context, SHA256};

/// GRM-MR-010: `status.secretsDataChecksum` in the making.
///
/// For every object that is managed, the whole value that describes it is fed, so a value of several documents counts
/// as often. That is how the original sums up, and a ManagedResource that changes hands must not look changed.
#[derive(Clone)]
pub struct Checksum(Context);

impl Default for Checksum {
    fn default() -> Self {
        Self(Context::new(&SHA256))
    }
}

impl Checksum {
    /// Feeds the value that one object stands in.
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

    /// Values, and what `sha256sum` says of them one behind the other.
    #[rstest]
    #[case::nothing(&[], "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")]
    #[case::one(&["abc"], "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")]
    #[case::in_pieces(&["a", "", "bc"], "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")]
    #[case::twice(&["abc", "abc"], "bbb59da3af939f7af5f360f2ceb80a496e3bae1cd87dde426db0ae40677e1c2c")]
    fn values_are_summed_up_one_behind_the_other(#[case] values: &[&str], #[case] wanted: &str) {
        let mut checksum = Checksum::default();
        for value in values {
            checksum.feed(value.as_bytes());
        }
        assert_eq!(checksum.finish(), wanted);
    }
}
