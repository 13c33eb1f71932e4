//! A badge with the verdict and the number of MUST clauses that hold, as an image or for shields.io.

use serde_json::json;

use crate::report::{Report, Verdict};

/// The text on the left.
const LABEL: &str = "gardener conformance";

/// An SVG without external fonts or links; its text is also its title.
#[must_use]
pub fn badge(report: &Report) -> String {
    let (message, colour) = (message(report), colour(report.verdict).1);
    let [left, right] = [LABEL, &message].map(width);
    let (all, middle_left, middle_right) = (left + right, left / 2, left + right / 2);
    // These are constant texts, so nothing needs escaping.
    let text = |at: usize, room: usize, words: &str| {
        let length = room - 10;
        format!(
            r#"<text x="{at}" y="14" textLength="{length}" lengthAdjust="spacingAndGlyphs">{words}</text>"#
        )
    };
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{all}\" height=\"20\" role=\"img\" aria-label=\"{LABEL}: {message}\">\n\
         <title>{LABEL}: {message}</title>\n\
         <rect width=\"{left}\" height=\"20\" fill=\"#555\"/>\n\
         <rect x=\"{left}\" width=\"{right}\" height=\"20\" fill=\"{colour}\"/>\n\
         <g fill=\"#fff\" text-anchor=\"middle\" font-family=\"Verdana,DejaVu Sans,sans-serif\" font-size=\"11\">\n{}\n{}\n</g>\n</svg>\n",
        text(middle_left, left, LABEL),
        text(middle_right, right, &message),
    )
}

/// JSON for an endpoint badge of shields.io.
#[must_use]
pub fn shields(report: &Report) -> String {
    let badge = json!({
        "schemaVersion": 1,
        "label": LABEL,
        "message": message(report),
        "color": colour(report.verdict).0,
        "isError": report.verdict == Verdict::NonConformant,
    });
    format!("{badge:#}\n")
}

/// `conformant 171/171`.
fn message(report: &Report) -> String {
    let must = report.levels.get("MUST").filter(|must| must.total > 0);
    let must = must.map(|must| format!(" {}/{}", must.passed, must.total)).unwrap_or_default();
    format!("{}{must}", report.verdict.label())
}

/// The name of a colour in shields.io, and the colour; white text is readable on each.
fn colour(verdict: Verdict) -> (&'static str, &'static str) {
    match verdict {
        Verdict::Conformant => ("success", "#2d7a1f"),
        Verdict::Partial => ("yellow", "#8a6d00"),
        Verdict::Inconclusive => ("inactive", "#6a6a6a"),
        Verdict::NonConformant => ("critical", "#b3261e"),
    }
}

/// Width of a text: letters of this font have a width of 6 to 7.
fn width(text: &str) -> usize {
    text.chars().count() * 13 / 2 + 10
}
