//! One HTML file: no network access, light and dark, printable; first what needs attention, then everything; worst first.

use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment};
use serde::Serialize;

use super::{duration, thousands};
use crate::report::{Report, Verdict};

mod attention;
mod everything;

use attention::{Attention, ChangeView, FindingView, UnprovenClause};
use everything::{ContractView, Deviation};

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
    findings: Vec<FindingView>,
    unproven: Vec<UnprovenClause>,
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
    environment.add_template("page", PAGE)?;
    let page = environment.get_template("page")?;
    let deviations = everything::deviations(report);
    let failures = attention::failures(report);
    let (unexplained, findings, unproven) =
        (attention::changes(report), attention::findings(report), attention::unproven(report));
    let nothing = failures.is_empty()
        && unexplained.is_empty()
        && findings.is_empty()
        && unproven.is_empty()
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
        findings,
        unproven,
        deviations,
        levels: ["MUST", "SHOULD", "MAY"],
        untold_release: report.unknown_release_note(),
        nothing,
        report,
    };
    Ok(page.render(minijinja::Value::from(Serde(content)))?)
}

fn class(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Conformant => "good",
        Verdict::Partial | Verdict::Inconclusive => "warn",
        Verdict::NonConformant => "bad",
    }
}
