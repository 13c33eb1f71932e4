//! Checks apiVersion and kind of an object before any other field.

use serde_json::Value;
use webhook::object;
use webhook::rejection::Rejection;

/// Accepts an object of this version and kind, or one without them.
///
/// GRM-SEC-012, GRM-PSN-007, GRM-ESH-009, GRM-KSH-009, GRM-TSC-011, GRM-PTM-026, GRM-SCC-024.
///
/// # Errors
/// 400 when version or kind differs.
pub fn expect(api_version: &str, kind: &str, object: &Value) -> Result<(), Rejection> {
    let found = (object::text(object, &["apiVersion"])?, object::text(object, &["kind"])?);
    let fits = |found: &str, wanted| found.is_empty() || found == wanted;
    if fits(found.0, api_version) && fits(found.1, kind) {
        return Ok(());
    }
    let (found_version, found_kind) = found;
    let message =
        format!("unable to decode {found_version}, Kind={found_kind} into {api_version}, Kind={kind}");
    Err(Rejection::undecodable(message))
}
