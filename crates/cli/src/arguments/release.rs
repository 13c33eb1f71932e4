//! Parses a release of Gardener.

use contract::versions::Range;

/// Returns `text` if it is a release: `v1.82.0` or `1.82.0`.
///
/// # Errors
/// If it is not, with an example.
pub(crate) fn release(text: &str) -> Result<String, String> {
    match Range::parse(&format!("={text}")) {
        Some(_) if !text.contains(',') => Ok(text.to_owned()),
        _ => Err("not a release; write for example v1.82.0".to_owned()),
    }
}
