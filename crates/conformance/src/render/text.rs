//! A report on a terminal: one line per contract, what needs attention, and three lines of conclusion.

use std::collections::BTreeMap;

use super::failure::describe_others;
use super::lines::{line, prefixed};
use super::style::{Tone, View};
use super::{contract_sign, deviations, duration, mark, plural, thousands};
use crate::causes::causes;
use crate::report::{ContractResult, Report, Status, Verdict};

/// Number of causes that are shown in full.
const SHOWN: usize = 12;

/// The report as text, without a line that is wider than the view.
#[must_use]
pub fn text(report: &Report, view: &View<'_>) -> String {
    let mut out = String::new();
    if !view.quiet {
        let version = format!("gardener-conformance {}", report.run.version);
        let head = format!("{} ", view.paint(Tone::Strong, &version));
        let description = format!("· {}", report.substrate.description);
        prefixed(&mut out, (&head, version.chars().count() + 1), &description, view);
        line(&mut out, "");
        contracts(&mut out, report, view);
        attention(&mut out, report, view);
    }
    conclusion(&mut out, report, view);
    out
}

fn contracts(out: &mut String, report: &Report, view: &View<'_>) {
    let mut component = None;
    let widest = report.contracts.iter().map(|contract| contract.name.chars().count()).max().unwrap_or(0);
    for contract in &report.contracts {
        if component != Some(&contract.component) {
            component = Some(&contract.component);
            line(out, &view.paint(Tone::Strong, &contract.component));
        }
        line(out, &contract_line(contract, widest, view));
        if view.verbose {
            cases(out, contract, view);
        }
    }
    let counts = &report.counts;
    let shard = report.selection.shard.as_ref();
    let shard = shard.map(|shard| format!(" · shard {} of {}", shard.index, shard.of)).unwrap_or_default();
    let requirements = report.run.requirements().map(|text| format!(" · {text}")).unwrap_or_default();
    line(
        out,
        &format!(
            "  {}, {}, {} in {} · seed {}{shard}{requirements}",
            plural(report.contracts.len(), "contract"),
            plural(counts.clauses, "clause"),
            plural(counts.cases, "case"),
            duration(report.run.duration_ms),
            report.run.seed,
        ),
    );
    line(out, "");
}

fn contract_line(contract: &ContractResult, widest: usize, view: &View<'_>) -> String {
    let counts = &contract.counts;
    let (sign, tone) = contract_sign(contract);
    let mut text = format!(
        "  {} {:widest$}  {:>12}  {:>12}  {:>8}",
        view.paint(tone, sign),
        contract.name,
        plural(counts.clauses, "clause"),
        plural(counts.cases, "case"),
        duration(contract.duration_ms),
    );
    let (mut long, mut used) =
        (String::new(), 4 + widest.max(contract.name.chars().count()) + 2 + 12 + 2 + 12 + 2 + 8);
    let marks = [
        (counts.failed, "✗", "failed", Tone::Bad),
        (counts.errored, "!", "errored", Tone::Warn),
        (counts.laws_broken, "✗", "laws broken", Tone::Bad),
        (counts.unexplained, "?", "unexplained", Tone::Warn),
        (counts.gaps, "?", "gaps", Tone::Warn),
        (counts.waived, "w", "waived", Tone::Warn),
        (counts.not_run, "–", "not run", Tone::Warn),
        (counts.not_supported, "–", "not supported", Tone::Faint),
    ];
    for (count, sign, words, tone) in marks {
        if count > 0 {
            let mark = format!("{sign} {} {words}", thousands(count));
            used += 2 + mark.chars().count();
            let line = if used > view.width { &mut long } else { &mut text };
            line.push_str("  ");
            line.push_str(&view.paint(tone, &mark));
        }
    }
    // Marks that do not fit are printed below.
    if long.is_empty() { text } else { format!("{text}\n  {long}") }
}

fn cases(out: &mut String, contract: &ContractResult, view: &View<'_>) {
    for clause in &contract.clauses {
        for case in &clause.cases {
            let reason = case.reason.as_ref().map(|reason| &reason.text).or(case.asked.as_ref());
            let reason = reason.map(|text| format!("  {text}")).unwrap_or_default();
            let text = format!("      {} {}/{}{reason}", mark(case.status), clause.id, case.name);
            line(out, &view.cut(&text, 0));
        }
    }
}

fn attention(out: &mut String, report: &Report, view: &View<'_>) {
    for error in &report.environment_errors {
        line(out, &format!("{} {}", view.paint(Tone::Warn, "!"), error));
        line(out, "");
    }
    for cause in causes(&report.contracts, Status::Errored) {
        let text = cause.case.reason.as_ref().map(|reason| reason.text.clone()).unwrap_or_default();
        if !report.environment_errors.contains(&text) {
            let head = format!("{} ", view.paint(Tone::Warn, "!"));
            prefixed(out, (&head, 2), &text.replace('\n', " ⏎ "), view);
            if let Some(message) = super::program_message::program_message(cause.case) {
                let place = message.place.map(|place| format!(" at {place}")).unwrap_or_default();
                prefixed(out, ("  ", 2), &format!("the webhook said: {}{place}", message.text), view);
            }
            prefixed(out, ("  ", 2), &describe_others(&cause), view);
            line(out, "");
        }
    }
    let failed = causes(&report.contracts, Status::Failed);
    for cause in failed.iter().take(SHOWN) {
        super::failure::write(out, report, cause, view);
    }
    if failed.len() > SHOWN {
        line(
            out,
            &format!("  … and {} more; the report has them all", plural(failed.len() - SHOWN, "cause")),
        );
        line(out, "");
    }
    super::findings::findings(out, report, view);
}

fn conclusion(out: &mut String, report: &Report, view: &View<'_>) {
    let tone = match report.verdict {
        Verdict::Conformant => Tone::Good,
        Verdict::Partial | Verdict::Inconclusive => Tone::Warn,
        Verdict::NonConformant => Tone::Bad,
    };
    let levels: Vec<String> = ["MUST", "SHOULD", "MAY"]
        .iter()
        .filter_map(|level| report.levels.get(*level).map(|counts| (level, counts)))
        .filter(|(_, counts)| counts.total > 0)
        .map(|(level, counts)| {
            let partly = counts.partly;
            let partly = if partly > 0 { format!(" ({partly} partly run)") } else { String::new() };
            format!("{level} {}/{}{partly}", counts.passed, counts.total)
        })
        .collect();
    line(out, &format!("verdict  {}    {}", view.paint(tone, report.verdict.label()), levels.join("   ")));
    if let Some(signal) = report.interrupted {
        let name = if signal == 2 { "SIGINT" } else { "SIGTERM" };
        line(
            out,
            &format!("         interrupted by {name}: {} not run", plural(report.counts.not_run, "case")),
        );
    }
    write_not_run(out, report);
    let counts = &report.counts;
    let proven = format!("{} of {} clauses proven able to fail", counts.proven, counts.answered);
    let gaps = plural(counts.gaps, "gap");
    let unexplained = if counts.unexplained > 0 {
        format!(" · {}", plural(counts.unexplained, "unexplained mutation"))
    } else {
        String::new()
    };
    line(out, &format!("proof    {proven} · {gaps}{unexplained}"));
    if let Some(path) = view.report {
        line(out, &format!("report   {path}   (json, junit, md beside it)"));
    }
}

/// Cases that did not run, or not as the substrate says.
fn write_not_run(out: &mut String, report: &Report) {
    let counts = &report.counts;
    if counts.not_supported > 0 {
        line(
            out,
            &format!("         {} not supported: {}", plural(counts.not_supported, "case"), reasons(report)),
        );
    }
    if let Some(note) = report.unknown_release_note() {
        line(out, &format!("         {note}"));
    }
    let rows = rows(report);
    if !rows.is_empty() {
        line(out, &format!("rows     {rows}"));
    }
    if counts.asked_otherwise > 0 {
        let cases = plural(counts.asked_otherwise, "case");
        line(out, &format!("         {cases} did not run as the substrate says: {}", deviations(report)));
    }
}

/// Rows about versions by level: `decision 96 of 96 run · reconcile 0 of 54 run`.
fn rows(report: &Report) -> String {
    let mut counted: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let clauses = report.contracts.iter().flat_map(|contract| &contract.clauses);
    for case in clauses.flat_map(|clause| &clause.cases) {
        let Some(level) = &case.runs_on else { continue };
        let (run, all) = counted.entry(level).or_default();
        *run += usize::from(case.status.is_answer());
        *all += 1;
    }
    let note = counted.into_iter().map(|(level, (run, all))| format!("{level} {run} of {all} run"));
    note.collect::<Vec<_>>().join(" · ")
}

/// `12 facts, 3 registration`.
fn reasons(report: &Report) -> String {
    let mut counted: Vec<(String, usize)> = Vec::new();
    let clauses = report.contracts.iter().flat_map(|contract| &contract.clauses);
    for case in clauses.flat_map(|clause| clause.cases_with(Status::NotSupported)) {
        let Some(reason) = &case.reason else { continue };
        let name = serde_json::to_value(reason.code)
            .ok()
            .and_then(|name| name.as_str().map(str::to_owned))
            .unwrap_or_default();
        match counted.iter_mut().find(|(known, _)| *known == name) {
            Some((_, count)) => *count += 1,
            None => counted.push((name, 1)),
        }
    }
    counted.iter().map(|(name, count)| format!("{count} {name}")).collect::<Vec<_>>().join(", ")
}
