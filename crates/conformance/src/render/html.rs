//! One HTML file: no network access, light and dark, printable; first what needs attention, then everything; worst first.

use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment};
use serde::Serialize;

use super::findings::ABOUT_CONTRACTS;
use super::{duration, plural, thousands};
use crate::report::{Report, Verdict};

mod attention;
mod everything;
mod exploration;

use attention::{Attention, ChangeView, FindingView, UnprovenClause};
use everything::{ContractView, Deviation};
pub use exploration::explore_html;

const PAGE: &str = include_str!("../../templates/report.html");
const SCRIPT: &str = include_str!("../../templates/report.js");
/// The CSS of our pages.
pub const PAGE_STYLE: &str = include_str!("../../templates/report.css");

/// Why the page cannot be rendered.
#[derive(Debug, thiserror::Error)]
#[error("failed to write HTML: {0}")]
pub struct HtmlError(#[from] minijinja::Error);

#[derive(Serialize)]
struct Page<'a> {
    report: &'a Report,
    verdict: &'static str,
    verdict_class: &'static str,
    style: &'static str,
    script: &'static str,
    failures: Vec<Attention>,
    unexplained: Vec<ChangeView>,
    unasked: Vec<FindingView>,
    gaps: Vec<FindingView>,
    unproven: Vec<UnprovenClause>,
    /// What precedes gaps and unproven clauses if they are not about the target.
    about_contracts: Option<String>,
    /// Why the exit code is what it is.
    cause: String,
    contracts: Vec<ContractView>,
    deviations: Vec<Deviation>,
    levels: [&'static str; 3],
    components: Vec<String>,
    statuses: Vec<String>,
    untold_release: Option<String>,
    /// Whether nothing needs attention.
    nothing: bool,
}

/// The page.
///
/// # Errors
/// If the template fails.
pub fn html(report: &Report) -> Result<String, HtmlError> {
    let mut environment = Environment::new();
    environment
        .set_auto_escape_callback(|name| if name == "page" { AutoEscape::Html } else { AutoEscape::None });
    environment.add_filter("duration", |milliseconds: f64| duration(milliseconds));
    environment.add_filter("thousands", |number: usize| thousands(number));
    environment.add_filter("counted", |number: usize, noun: String| plural(number, &noun));
    environment.add_template("page", PAGE)?;
    let page = environment.get_template("page")?;
    let deviations = everything::deviations(report);
    let failures = attention::failures(report);
    let (unexplained, unasked) = (attention::changes(report), attention::unasked(report));
    let (gaps, unproven) = (attention::gaps(report), attention::unproven(report));
    let is_foreign = report.target.kind.is_foreign();
    let has_weakness = !gaps.is_empty() || !unproven.is_empty();
    let nothing = failures.is_empty()
        && unexplained.is_empty()
        && unasked.is_empty()
        && (is_foreign || !has_weakness)
        && report.environment_errors.is_empty()
        && report.counts.laws_broken == 0;
    let content = Page {
        verdict: report.verdict.label(),
        verdict_class: class(report.verdict),
        style: PAGE_STYLE,
        script: SCRIPT,
        contracts: everything::contracts(report, &deviations),
        components: everything::components(report),
        statuses: everything::statuses(report),
        failures,
        unexplained,
        unasked,
        gaps,
        unproven,
        about_contracts: (is_foreign && has_weakness).then(|| capitalized(ABOUT_CONTRACTS)),
        cause: report.exit_reason().cause,
        deviations,
        levels: ["MUST", "SHOULD", "MAY"],
        untold_release: report.unknown_release_note(),
        nothing,
        report,
    };
    Ok(page.render(minijinja::Value::from(Serde(content)))?)
}

/// The text with a capital letter at its beginning.
fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}", letters.as_str())
}

fn class(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Conformant => "good",
        Verdict::Partial | Verdict::Inconclusive => "warn",
        Verdict::NonConformant => "bad",
    }
}
