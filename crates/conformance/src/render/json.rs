//! The report as JSON.

use crate::report::Report;

/// The canonical form of a report.
///
/// # Panics
/// Never: a report is JSON.
#[must_use]
pub fn json(report: &Report) -> String {
    let mut text = serde_json::to_string_pretty(report).expect("a report is JSON");
    text.push('\n');
    text
}
