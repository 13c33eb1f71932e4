//! The outcome of an exploration on a terminal: a line per scenario, a story per perturbation that broke something, and sums by
//! kind of perturbation.

use super::failure::diff_line;
use super::lines::{line, prefixed};
use super::style::{Tone, View};
use super::{duration, plural, thousands};
use crate::difference::diff;
use crate::explore::{ExplorationCounts, Outcome, ScenarioOutcome, ScenarioState};
use crate::report::Check;

/// Number of perturbations that are told in full.
const SHOWN: usize = 12;

/// The outcome as text; a quiet view gets the conclusion, a verbose one the story of every perturbation that broke something.
#[must_use]
pub fn explore(outcome: &Outcome, view: &View<'_>) -> String {
    let mut out = String::new();
    if !view.quiet {
        let version = outcome.target.version.as_ref().map(|version| format!(" {version}"));
        let head = format!("{}{}", outcome.target.name, version.unwrap_or_default());
        line(&mut out, &format!("{} · {}", view.paint(Tone::Strong, &head), outcome.target.endpoint));
        line(&mut out, "");
        scenarios(&mut out, outcome, view);
        line(&mut out, "");
        refused(&mut out, outcome, view);
        failures(&mut out, outcome, view);
        kinds(&mut out, outcome, view);
    }
    for error in &outcome.environment_errors {
        prefixed(&mut out, (&format!("{} ", view.paint(Tone::Warn, "!")), 2), error, view);
    }
    line(&mut out, &conclusion(outcome, view));
    out
}

fn scenarios(out: &mut String, outcome: &Outcome, view: &View<'_>) {
    let mut component = None;
    let widest = outcome.in_state(ScenarioState::Explored).map(|found| found.case.chars().count()).max();
    for scenario in &outcome.scenarios {
        let Some((sign, tone, words)) = verdict(scenario, view) else { continue };
        if component != Some(&scenario.component) {
            component = Some(&scenario.component);
            line(out, &view.paint(Tone::Strong, &scenario.component));
        }
        // A name that is too long for a column is alone on its line.
        let width = widest.unwrap_or(0).min(view.width / 2);
        let head = format!("  {} {:width$}", view.paint(tone, sign), scenario.case);
        let used = 4 + width.max(scenario.case.chars().count());
        if used + 2 + words.chars().count() <= view.width {
            line(out, &format!("{head}  {words}"));
        } else {
            line(out, &head);
            prefixed(out, ("      ", 6), &words, view);
        }
    }
    let silent =
        [(ScenarioState::NotSupported, "not supported by the target"), (ScenarioState::Left, "left")];
    for (state, words) in silent {
        let count = outcome.in_state(state).count();
        if count > 0 {
            line(out, &view.paint(Tone::Faint, &format!("  – {} {words}", plural(count, "scenario"))));
        }
    }
}

/// Sign, tone and words of a scenario's line; `None` if it has none.
fn verdict(scenario: &ScenarioOutcome, view: &View<'_>) -> Option<(&'static str, Tone, String)> {
    let reason = || scenario.reason.clone().unwrap_or_default();
    Some(match scenario.state {
        ScenarioState::Refused => {
            ("✗", Tone::Bad, "broken without any perturbation, so it was not explored".to_owned())
        }
        ScenarioState::Errored => ("!", Tone::Warn, reason()),
        ScenarioState::NotSupported if view.verbose => ("–", Tone::Faint, reason()),
        ScenarioState::Left if view.verbose => ("–", Tone::Faint, "left".to_owned()),
        ScenarioState::NotSupported | ScenarioState::Left => return None,
        ScenarioState::Explored => {
            let (sign, tone) = match scenario.counts {
                ExplorationCounts { failed: 1.., .. } => ("✗", Tone::Bad),
                ExplorationCounts { left: 1.., .. } | ExplorationCounts { missed: 1.., .. } => {
                    ("–", Tone::Warn)
                }
                _ => ("✓", Tone::Good),
            };
            (sign, tone, numbers(scenario.counts))
        }
    })
}

/// `41 perturbations, 2 failed, 3 left`.
fn numbers(counts: ExplorationCounts) -> String {
    let more = [(counts.failed, "failed"), (counts.missed, "struck nothing"), (counts.left, "left")];
    let more = more.into_iter().filter(|(count, _)| *count > 0);
    let more = more.map(|(count, words)| format!("{} {words}", thousands(count)));
    std::iter::once(plural(counts.run, "perturbation")).chain(more).collect::<Vec<_>>().join(", ")
}

fn refused(out: &mut String, outcome: &Outcome, view: &View<'_>) {
    for scenario in outcome.in_state(ScenarioState::Refused) {
        let head = format!("{} {}  ", view.paint(Tone::Bad, "✗"), view.paint(Tone::Strong, &scenario.case));
        let columns = scenario.case.chars().count() + 4;
        prefixed(out, (&head, columns), "without any perturbation", view);
        checks(out, &scenario.checks, view);
        line(out, "");
    }
}

fn failures(out: &mut String, outcome: &Outcome, view: &View<'_>) {
    let all: Vec<_> = outcome
        .scenarios
        .iter()
        .flat_map(|scenario| scenario.failures.iter().map(move |failure| (scenario, failure)))
        .collect();
    let shown = if view.verbose { all.len() } else { SHOWN.min(all.len()) };
    for (scenario, failure) in &all[..shown] {
        let head = format!("{} {}  ", view.paint(Tone::Bad, "✗"), view.paint(Tone::Strong, &scenario.case));
        let columns = scenario.case.chars().count() + 4;
        prefixed(
            out,
            (&head, columns),
            &format!("perturbation {}: {}", failure.perturbation, failure.kind),
            view,
        );
        prefixed(out, ("    ", 4), &failure.story, view);
        line(out, "");
        checks(out, &failure.checks, view);
        line(out, "");
        line(out, &format!("  again   {}", failure.command));
        line(out, "");
    }
    if all.len() > shown {
        line(out, &format!("  … and {} more; -v and -o json have them all", thousands(all.len() - shown)));
        line(out, "");
    }
}

fn checks(out: &mut String, checks: &[Check], view: &View<'_>) {
    let checks: Vec<&Check> = checks.iter().collect();
    for piece in &diff(&checks) {
        diff_line(out, piece, view);
    }
}

fn kinds(out: &mut String, outcome: &Outcome, view: &View<'_>) {
    let widest = outcome.kinds.keys().map(|kind| kind.chars().count()).max().unwrap_or(0);
    for (kind, counts) in &outcome.kinds {
        let sign = if counts.failed > 0 { view.paint(Tone::Bad, "✗") } else { " ".to_owned() };
        line(out, &format!("  {sign} {kind:widest$}  {}", numbers(*counts)));
    }
    if !outcome.kinds.is_empty() {
        line(out, "");
    }
}

/// `nothing was found · 1,204 perturbations: 1,100 run, … · 45 scenarios · 12.3 s · seed 1`.
fn conclusion(outcome: &Outcome, view: &View<'_>) -> String {
    let counts = outcome.counts;
    let (words, tone) = match (outcome.interrupted, counts.failed) {
        (Some(_), _) => ("interrupted", Tone::Warn),
        (_, 0) if outcome.in_state(ScenarioState::Refused).next().is_none() => {
            ("nothing was found", Tone::Good)
        }
        _ => ("something was found", Tone::Bad),
    };
    let scenarios = outcome.in_state(ScenarioState::Explored).count();
    let mut parts = vec![
        view.paint(tone, words),
        format!(
            "{}: {} run, {} the same as another one, {} left",
            plural(counts.space, "perturbation"),
            thousands(counts.run),
            thousands(counts.cut),
            thousands(counts.left)
        ),
        plural(scenarios, "scenario"),
        duration(outcome.duration_ms),
    ];
    if outcome.budget_seconds.is_some() {
        parts.push(format!("seed {}", outcome.seed));
    }
    parts.join(" · ")
}
