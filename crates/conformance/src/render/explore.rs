//! The outcome of an exploration on a terminal: a line per scenario, a story per perturbation that broke something, and sums by
//! kind of perturbation.

use super::failure::diff_line;
use super::lines::{line, prefixed};
use super::style::{Tone, View};
use super::{duration, plural, thousands};
use crate::difference::diff;
use crate::explore::{ExplorationCounts, Outcome, PlanNumbers, ScenarioOutcome, ScenarioState};
use crate::report::Check;

/// Number of failed perturbations that the text shows with all their checks.
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
    for scenario in outcome.scenarios.iter().filter(|scenario| has_line(scenario, view)) {
        let (sign, tone, words) = verdict(scenario);
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

/// Whether a scenario has a line of its own; others are counted together.
fn has_line(scenario: &ScenarioOutcome, view: &View<'_>) -> bool {
    view.verbose || !matches!(scenario.state, ScenarioState::NotSupported | ScenarioState::Left)
}

/// Sign, tone and words of a scenario.
pub(super) fn verdict(scenario: &ScenarioOutcome) -> (&'static str, Tone, String) {
    let reason = || scenario.reason.clone().unwrap_or_default();
    match scenario.state {
        ScenarioState::Refused => {
            ("✗", Tone::Bad, "broken without any perturbation, so it was not explored".to_owned())
        }
        ScenarioState::Errored => ("!", Tone::Warn, reason()),
        ScenarioState::NotSupported => ("–", Tone::Faint, reason()),
        ScenarioState::Left => ("–", Tone::Faint, "left".to_owned()),
        ScenarioState::Explored => {
            let (counts, pairs) = (scenario.counts, scenario.pairs);
            let (sign, tone) = if counts.failed + pairs.failed > 0 {
                ("✗", Tone::Bad)
            } else if counts.left + counts.missed + pairs.left > 0 {
                ("–", Tone::Warn)
            } else {
                ("✓", Tone::Good)
            };
            (sign, tone, with_pairs(numbers(counts), pairs))
        }
    }
}

/// `41 perturbations, 2 failed, 3 left`.
pub(super) fn numbers(counts: ExplorationCounts) -> String {
    let more = [(counts.failed, "failed"), (counts.missed, "struck nothing"), (counts.left, "left")];
    let more = more.into_iter().filter(|(count, _)| *count > 0);
    let more = more.map(|(count, words)| format!("{} {words}", thousands(count)));
    std::iter::once(plural(counts.run, "perturbation")).chain(more).collect::<Vec<_>>().join(", ")
}

/// Adds `; 300 pairs, 1 failed`, if there are pairs.
fn with_pairs(text: String, pairs: ExplorationCounts) -> String {
    if pairs.space == 0 {
        return text;
    }
    let more =
        [(pairs.failed, "failed"), (pairs.missed, "with one that struck nothing"), (pairs.left, "left")];
    let more = more.into_iter().filter(|(count, _)| *count > 0);
    let more = more.map(|(count, words)| format!(", {} {words}", thousands(count)));
    format!("{text}; {}{}", plural(pairs.run, "pair"), more.collect::<String>())
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
        let text = format!("{} {}: {}", many(failure.numbers), failure.numbers, failure.kind);
        prefixed(out, (&head, columns), &text, view);
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

/// `perturbation`, or `perturbations` of a pair.
pub(super) fn many(numbers: PlanNumbers) -> &'static str {
    if numbers.second.is_some() { "perturbations" } else { "perturbation" }
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
    let (counts, (words, tone)) = (outcome.counts, result_words(outcome));
    let scenarios = outcome.in_state(ScenarioState::Explored).count();
    let mut parts = vec![view.paint(tone, words), space(counts, "perturbation")];
    if outcome.pairs.space > 0 {
        parts.push(space(outcome.pairs, "pair"));
    }
    parts.extend([plural(scenarios, "scenario"), duration(outcome.duration_ms)]);
    if outcome.budget_seconds.is_some() || outcome.pairs.space > 0 {
        parts.push(format!("seed {}", outcome.seed));
    }
    parts.join(" · ")
}

/// Whether something was found.
pub(super) fn result_words(outcome: &Outcome) -> (&'static str, Tone) {
    match outcome.exit_reason().code {
        0 => ("nothing was found", Tone::Good),
        1 => ("something was found", Tone::Bad),
        130 | 143 => ("interrupted", Tone::Warn),
        _ => ("unfinished", Tone::Warn),
    }
}

/// `1,204 perturbations: 1,100 run, 100 cut, 4 left`.
pub(super) fn space(counts: ExplorationCounts, what: &str) -> String {
    format!(
        "{}: {} run, {} cut, {} left",
        plural(counts.space, what),
        thousands(counts.run),
        thousands(counts.cut),
        thousands(counts.left)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explore::{PerturbationFailure, TimelineEntry, TimelineKind};
    use crate::render::Plain;
    use crate::render::explore_html;
    use crate::target::{Identity, TargetKind};

    fn counts(space: usize, cut: usize, run: usize, failed: usize, left: usize) -> ExplorationCounts {
        ExplorationCounts { space, cut, run, failed, missed: 0, left }
    }

    fn scenario(case: &str, state: ScenarioState, counts: ExplorationCounts) -> ScenarioOutcome {
        ScenarioOutcome {
            component: "copier".to_owned(),
            contract: "copier".to_owned(),
            case: case.to_owned(),
            state,
            reason: None,
            checks: Vec::new(),
            writes: 2,
            events: 3,
            counts,
            pairs: ExplorationCounts::default(),
            failures: Vec::new(),
        }
    }

    fn outcome() -> Outcome {
        let failure = PerturbationFailure {
            numbers: PlanNumbers::one(3),
            kind: "crash after a write".to_owned(),
            story: "the 2nd write, patch configmap/x, was executed and the target was killed".to_owned(),
            checks: Vec::new(),
            timeline: Vec::new(),
            command: "gardener-conformance explore --case 'C-001/one' --perturbation 3".to_owned(),
        };
        let one = scenario("C-001/one", ScenarioState::Explored, counts(12, 2, 10, 1, 0));
        let none = ExplorationCounts::default();
        Outcome {
            target: Identity {
                name: "copier".to_owned(),
                version: Some("v1.0.0".to_owned()),
                kind: TargetKind::BuiltIn,
                endpoint: "in process".to_owned(),
            },
            seed: 7,
            budget_seconds: Some(60.0),
            requested: None,
            duration_ms: 1234.0,
            counts: counts(17, 2, 14, 1, 1),
            pairs: ExplorationCounts::default(),
            kinds: [("crash after a write", counts(0, 0, 10, 1, 0)), ("event late", counts(0, 0, 4, 0, 1))]
                .into(),
            scenarios: vec![
                ScenarioOutcome { failures: vec![failure], ..one },
                scenario("C-002/two", ScenarioState::Explored, counts(5, 0, 4, 0, 1)),
                scenario("C-003/three", ScenarioState::Refused, none),
                scenario("C-004/four", ScenarioState::NotSupported, none),
            ],
            environment_errors: Vec::new(),
            interrupted: None,
            command: "gardener-conformance explore".to_owned(),
        }
    }

    #[test]
    fn scenarios_failures_and_sums_are_shown() {
        let view = View { width: 110, quiet: false, verbose: false, style: &Plain, report: None };
        let wanted = "copier v1.0.0 · in process

copier
  ✗ C-001/one  10 perturbations, 1 failed
  – C-002/two  4 perturbations, 1 left
  ✗ C-003/three  broken without any perturbation, so it was not explored
  – 1 scenario not supported by the target

✗ C-003/three  without any perturbation

✗ C-001/one  perturbation 3: crash after a write
    the 2nd write, patch configmap/x, was executed and the target was killed


  again   gardener-conformance explore --case 'C-001/one' --perturbation 3

  ✗ crash after a write  10 perturbations, 1 failed
    event late           4 perturbations, 1 left

something was found · 17 perturbations: 14 run, 2 cut, 1 left · 2 scenarios · 1.2 s · seed 7
";
        assert_eq!(explore(&outcome(), &view), wanted);
        let quiet = explore(&outcome(), &View { quiet: true, ..view });
        assert_eq!(quiet.lines().count(), 1, "{quiet}");
    }

    #[test]
    fn pairs_are_shown_beside_single_perturbations() {
        let mut outcome = outcome();
        let failure = PerturbationFailure {
            numbers: PlanNumbers { first: 3, second: Some(7) },
            kind: "crash after a write + event late".to_owned(),
            story: "one; and another".to_owned(),
            checks: Vec::new(),
            timeline: Vec::new(),
            command: "gardener-conformance explore --case 'C-001/one' --perturbation 3+7".to_owned(),
        };
        let pairs = ExplorationCounts { space: 45, cut: 5, run: 20, failed: 1, missed: 6, left: 20 };
        outcome.scenarios[0].failures = vec![failure];
        (outcome.scenarios[0].pairs, outcome.pairs) = (pairs, pairs);
        let view = View { width: 110, quiet: false, verbose: false, style: &Plain, report: None };
        let text = explore(&outcome, &view);
        let wanted = [
            "C-001/one  10 perturbations, 1 failed; 20 pairs, 1 failed, 6 with one that struck nothing, 20 left\n",
            "✗ C-001/one  perturbations 3+7: crash after a write + event late\n    one; and another\n",
            "--perturbation 3+7\n",
            "17 perturbations: 14 run, 2 cut, 1 left · 45 pairs: 20 run, 5 cut, 20 left · 2 scenarios",
        ];
        for words in wanted {
            assert!(text.contains(words), "{words}\n{text}");
        }
        outcome.counts.failed = 0;
        assert_eq!(outcome.exit_reason().cause, "0 perturbations and 1 pair broke C-001/one");
        outcome.scenarios[0].failures.clear();
        outcome.scenarios.truncate(2);
        let left = "the budget is spent: 1 perturbation, 20 pairs and 0 whole scenarios are left";
        assert_eq!((outcome.exit_reason().code, outcome.exit_reason().cause.as_str()), (4, left));
    }

    #[test]
    fn the_page_has_a_timeline_for_each_finding_and_needs_no_network() {
        let mut outcome = outcome();
        let entry = |at_ms, kind, text: &str| TimelineEntry { at_ms, kind, text: text.to_owned() };
        outcome.scenarios[0].failures[0].timeline = vec![
            entry(5, TimelineKind::Write, "patch configmap/<x>"),
            entry(5, TimelineKind::Perturbation, "the target was killed"),
            entry(1900, TimelineKind::Event, "MODIFIED configmap/x"),
        ];
        let page = explore_html(&outcome).unwrap();
        let wanted = [
            "<span class=\"verdict bad\">something was found</span>",
            "exit 1: 1 perturbation broke C-001&#x2f;one",
            "perturbation 3: crash after a write",
            "<tr class=\"\"><td data-label=\"Time\">+5 ms</td><td data-label=\"The target wrote\" class=\"mono\">patch \
             configmap&#x2f;&lt;x&gt;</td>",
            "<tr class=\"struck\"><td data-label=\"Time\">+5 ms</td>",
            "<td data-label=\"The target saw\" class=\"mono\">MODIFIED configmap&#x2f;x</td>",
            "+1.9 s",
            "--perturbation 3",
            "without any perturbation",
            "10 perturbations, 1 failed",
        ];
        for words in wanted {
            assert!(page.contains(words), "{words}\n{page}");
        }
        for outside in ["http://", "https://", "src=", "@import", "fetch(", "<link", "<script"] {
            assert!(!page.contains(outside), "{outside}");
        }
    }

    #[test]
    fn the_exit_code_names_what_was_found_before_what_is_left() {
        let reason = |outcome: Outcome| {
            let reason = outcome.exit_reason();
            (reason.code, reason.cause)
        };
        assert_eq!(reason(outcome()), (1, "1 perturbation broke C-001/one".to_owned()));
        let mut without_failure = outcome();
        without_failure.scenarios.truncate(2);
        without_failure.scenarios[0].failures.clear();
        let left = "the budget is spent: 1 perturbation and 0 whole scenarios are left";
        assert_eq!(reason(without_failure.clone()), (4, left.to_owned()));
        without_failure.counts.left = 0;
        let held = "2 scenarios withstood 14 perturbations";
        assert_eq!(reason(without_failure.clone()), (0, held.to_owned()));
        without_failure.interrupted = Some(2);
        assert_eq!(reason(without_failure).0, 130);
    }
}
