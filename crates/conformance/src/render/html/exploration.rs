//! The page of an exploration: what was found, each with a timeline of its run, and what was run.

use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment};
use serde::Serialize;

use super::attention::{DiffRow, rows};
use super::{HtmlError, PAGE_STYLE};
use crate::difference::diff;
use crate::explore::{
    Outcome, PerturbationFailure, ScenarioOutcome, ScenarioState, TimelineEntry, TimelineKind,
};
use crate::render::duration;
use crate::render::explore::{many, numbers, result_words, space, verdict};
use crate::render::style::Tone;
use crate::report::Check;

const PAGE: &str = include_str!("../../../templates/explore.html");

#[derive(Serialize)]
struct ExplorationPage<'a> {
    outcome: &'a Outcome,
    style: &'static str,
    /// Whether something was found.
    words: &'static str,
    class: &'static str,
    code: u8,
    cause: String,
    space: String,
    /// Empty if no pairs were to be run.
    pairs: String,
    took: String,
    findings: Vec<BrokenScenario<'a>>,
    kinds: Vec<SummaryRow<'a>>,
    scenarios: Vec<SummaryRow<'a>>,
}

/// A scenario that is broken, by a perturbation or without any.
#[derive(Serialize)]
struct BrokenScenario<'a> {
    case: &'a str,
    title: String,
    story: &'a str,
    diff: Vec<DiffRow>,
    timeline: Vec<TimelineRow<'a>>,
    command: &'a str,
}

/// An entry of a timeline, in the column of its kind.
#[derive(Default, Serialize)]
struct TimelineRow<'a> {
    at: String,
    class: &'static str,
    write: &'a str,
    event: &'a str,
    other: &'a str,
}

#[derive(Serialize)]
struct SummaryRow<'a> {
    sign: &'static str,
    class: &'static str,
    name: &'a str,
    words: String,
}

/// The page.
///
/// # Errors
/// If the template fails.
pub fn explore_html(outcome: &Outcome) -> Result<String, HtmlError> {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.add_template("page", PAGE)?;
    let (words, tone) = result_words(outcome);
    let reason = outcome.exit_reason();
    let has_pairs = outcome.pairs.space > 0;
    let content = ExplorationPage {
        outcome,
        style: PAGE_STYLE,
        words,
        class: tone.class(),
        code: reason.code,
        cause: reason.cause,
        space: space(outcome.counts, "perturbation"),
        pairs: if has_pairs { space(outcome.pairs, "pair") } else { String::new() },
        took: duration(outcome.duration_ms),
        findings: outcome.scenarios.iter().flat_map(findings).collect(),
        kinds: kinds(outcome),
        scenarios: outcome.scenarios.iter().map(scenario).collect(),
    };
    Ok(environment.get_template("page")?.render(minijinja::Value::from(Serde(content)))?)
}

fn findings(scenario: &ScenarioOutcome) -> Vec<BrokenScenario<'_>> {
    let refused = (scenario.state == ScenarioState::Refused).then(|| BrokenScenario {
        case: &scenario.case,
        title: "without any perturbation".to_owned(),
        story: "",
        diff: lines(&scenario.checks),
        timeline: Vec::new(),
        command: "",
    });
    let failures = scenario.failures.iter().map(|failure| finding(&scenario.case, failure));
    refused.into_iter().chain(failures).collect()
}

fn finding<'a>(case: &'a str, failure: &'a PerturbationFailure) -> BrokenScenario<'a> {
    BrokenScenario {
        case,
        title: format!("{} {}: {}", many(failure.numbers), failure.numbers, failure.kind),
        story: &failure.story,
        diff: lines(&failure.checks),
        timeline: failure.timeline.iter().map(row).collect(),
        command: &failure.command,
    }
}

fn lines(checks: &[Check]) -> Vec<DiffRow> {
    rows(&diff(&checks.iter().collect::<Vec<_>>()))
}

fn row(entry: &TimelineEntry) -> TimelineRow<'_> {
    let milliseconds = u32::try_from(entry.at_ms).unwrap_or(u32::MAX);
    let at = format!("+{}", duration(f64::from(milliseconds)));
    let text = entry.text.as_str();
    match entry.kind {
        TimelineKind::Write => TimelineRow { at, write: text, ..TimelineRow::default() },
        TimelineKind::Event => TimelineRow { at, event: text, ..TimelineRow::default() },
        TimelineKind::Perturbation | TimelineKind::Takeover => {
            TimelineRow { at, class: "struck", other: text, ..TimelineRow::default() }
        }
        TimelineKind::Step => TimelineRow { at, class: "step", other: text, ..TimelineRow::default() },
    }
}

fn kinds(outcome: &Outcome) -> Vec<SummaryRow<'_>> {
    let of_kinds = outcome.kinds.iter().map(|(kind, counts)| {
        let (sign, tone) = if counts.failed > 0 { ("✗", Tone::Bad) } else { ("✓", Tone::Good) };
        SummaryRow { sign, class: tone.class(), name: kind, words: numbers(*counts) }
    });
    of_kinds.collect()
}

fn scenario(scenario: &ScenarioOutcome) -> SummaryRow<'_> {
    let (sign, tone, words) = verdict(scenario);
    SummaryRow { sign, class: tone.class(), name: &scenario.case, words }
}
