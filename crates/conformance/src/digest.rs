//! Digests of texts.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

/// SHA-256 as hexadecimal digits.
pub(crate) fn digest(text: &str) -> String {
    Sha256::digest(text).iter().fold(String::new(), |mut hex, byte| {
        write!(hex, "{byte:02x}").expect("writing to memory does not fail");
        hex
    })
}
