//! A release of Gardener, as it is typed.

use contract::versions::Range;

/// The release as it was typed, `v1.82.0` or `1.82.0`.
///
/// # Errors
/// When it is none, with what is to be written.
pub(crate) fn release(text: &str) -> Result<String, String> {
    match Range::parse(&format!("={text}")) {
        Some(_) if !text.contains(',') => Ok(text.to_owned()),
        _ => Err("it is no release; write v1.82.0".to_owned()),
    }
}
