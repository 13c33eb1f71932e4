//! A report for a pull request: the verdict, a table, and folded details of what needs attention.

use std::fmt::Write as _;

use contract::model::Level;

use super::findings::ABOUT_CONTRACTS;
use super::program_message::program_message;
use super::unexplained::{REMEDY, UnexplainedChange, unexplained_of};
use super::{deviations, plural, repeat_command};
use crate::causes::{Cause, CauseKind, causes};
use crate::difference::{diff, first_of};
use crate::report::{ContractResult, Report, Status};

/// Number of causes that are shown in full: a comment has a limited length.
const SHOWN: usize = 20;

/// The report as GitHub-flavoured Markdown.
#[must_use]
pub fn markdown(report: &Report) -> String {
    let mut out = String::new();
    summary(&mut out, report);
    failures(&mut out, report);
    findings(&mut out, report);
    contracts(&mut out, report);
    out
}

fn summary(out: &mut String, report: &Report) {
    let mut line = |text: String| writeln!(out, "{text}").expect("writing to memory does not fail");
    let counts = &report.counts;
    let version = report.target.version.as_ref().map(|version| format!(" {version}")).unwrap_or_default();
    line(format!("## gardener-conformance: {}", report.verdict.label()));
    line(String::new());
    line(format!(
        "**{}{version}** on {}{} · exit code {}",
        cell(&report.target.name),
        report.substrate.name,
        report.run.requirements().map(|text| format!(" · {}", cell(&text))).unwrap_or_default(),
        report.exit_code
    ));
    line(String::new());
    line("| level | holds | of | partly run | not supported | proven |".to_owned());
    line("|---|---:|---:|---:|---:|---:|".to_owned());
    for name in ["MUST", "SHOULD", "MAY"] {
        if let Some(level) = report.levels.get(name) {
            line(format!(
                "| {name} | {} | {} | {} | {} | {} |",
                level.passed, level.total, level.partly, level.not_supported, level.proven
            ));
        }
    }
    line(String::new());
    line(format!(
        "{} of {} clauses proven able to fail · {} · {} · {}",
        counts.proven,
        counts.answered,
        plural(counts.gaps, "gap"),
        plural(counts.unexplained, "unexplained mutation"),
        plural(counts.laws_broken, "broken law")
    ));
    line(String::new());
    if counts.asked_otherwise > 0 {
        let cases = plural(counts.asked_otherwise, "case");
        line(format!("{cases} did not run as the substrate says: {}.", deviations(report)));
        line(String::new());
    }
    if let Some(note) = report.unknown_release_note() {
        line(format!("{}.", cell(&note)));
        line(String::new());
    }
    for error in &report.environment_errors {
        line(format!("> ⚠️ could not reach the target: {}", cell(error)));
        line(String::new());
    }
}

fn failures(out: &mut String, report: &Report) {
    let failed = causes(&report.contracts, Status::Failed);
    for cause in failed.iter().take(SHOWN) {
        failure(out, report, cause);
    }
    let mut line = |text: String| writeln!(out, "{text}").expect("writing to memory does not fail");
    if failed.len() > SHOWN {
        line(format!("… and {}; the report has them all.", plural(failed.len() - SHOWN, "more cause")));
        line(String::new());
    }
}

fn failure(out: &mut String, report: &Report, cause: &Cause<'_>) {
    let mut line = |text: String| writeln!(out, "{text}").expect("writing to memory does not fail");
    let id = cause.id();
    line(format!(
        "<details><summary>{} <b>{}</b> {}</summary>",
        if cause.level() == Level::Must { "✗" } else { "!" },
        escape(&cause.subject()),
        escape(cause.sentence())
    ));
    line(String::new());
    line(format!("{}.", cell(&super::failure::summary(cause))));
    line(String::new());
    let more = if cause.others.is_empty() {
        String::new()
    } else {
        format!(", and {} of the same cause", plural(cause.others.len(), "more case"))
    };
    line(format!("Case `{}`{more}.", id.replace('`', "'")));
    line(String::new());
    line("````diff".to_owned());
    for story in &cause.case.story {
        line(format!("# {story}"));
    }
    for piece in diff(&cause.checks) {
        let note = if piece.note.is_empty() { String::new() } else { format!("   # {}", piece.note) };
        line(format!("{} {}{}{note}", piece.sign, "  ".repeat(piece.depth), piece.text));
    }
    if let Some(text) = cause.text {
        line(format!("  {text}"));
    }
    if let Some(message) =
        program_message(cause.case).filter(|_| matches!(cause.kind, CauseKind::Exchange(_)))
    {
        let place = message.place.map(|place| format!(" at {place}")).unwrap_or_default();
        line(format!("  the webhook said: {}{place}", message.text));
    }
    for (other, sentences) in cause.variants() {
        line(format!("  also {}/{}: {}", other.clause.id, other.case.name, first_of(&sentences)));
    }
    line("````".to_owned());
    line(String::new());
    if !cause.not_run.is_empty() {
        line(format!("Not run for this reason: {}.", cause.not_run.join(", ")));
        line(String::new());
    }
    line(format!("Again: `{}`", repeat_command(report, &id).replace('`', "'")));
    line("</details>".to_owned());
    line(String::new());
}

fn findings(out: &mut String, report: &Report) {
    let mut lines: Vec<String> = unexplained_of(report).iter().map(|found| change(report, found)).collect();
    for contract in &report.contracts {
        lines.extend(contract.unasked.iter().map(|unasked| format!("- ? {}: {unasked}", contract.name)));
    }
    lines.extend(report.waivers.iter().map(|waiver| {
        let (clause, state, expires) = (&waiver.clause, waiver.state, &waiver.expires);
        format!("- waiver of {clause}: {state:?}, until {expires} ({})", cell(&waiver.owner))
    }));
    let left = report.left_behind.iter();
    lines.extend(left.map(|name| format!("- left behind in the cluster: {}", cell(name))));
    let weaknesses: Vec<String> = report.contracts.iter().flat_map(weaknesses_of).collect();
    let is_foreign = report.target.kind.is_foreign();
    if !is_foreign {
        lines.extend(weaknesses.iter().cloned());
    }
    if !lines.is_empty() {
        writeln!(out, "{}\n", lines.join("\n")).expect("writing to memory does not fail");
    }
    if is_foreign && !weaknesses.is_empty() {
        let text = weaknesses.join("\n");
        writeln!(out, "<details><summary>{ABOUT_CONTRACTS}</summary>\n\n{text}\n</details>\n")
            .expect("writing to memory does not fail");
    }
}

/// Gaps of a contract and clauses that are not proven, a line each.
fn weaknesses_of(contract: &ContractResult) -> Vec<String> {
    let gaps = contract.gaps.iter().map(|gap| {
        let (name, path, case) = (&contract.name, &gap.path, &gap.case);
        format!("- ? gap in {name}: `{path}` changes in `{case}`, and no case would miss it")
    });
    let unproven = contract.clauses.iter().filter(|clause| {
        clause.status == Status::Passed && clause.proof.as_ref().is_some_and(|proof| !proof.proven)
    });
    gaps.chain(unproven.map(|clause| format!("- ? {} is not proven able to fail", clause.id))).collect()
}

/// A change that no clause explains, in a line.
fn change(report: &Report, change: &UnexplainedChange<'_>) -> String {
    let code = |text: &str| text.replace('`', "'");
    format!(
        "- ? no clause of {} explains a change of {}: `{}`, in {}, first `{}`; {REMEDY} (`{}`); again: `{}`",
        change.contracts(),
        cell(&change.objects()),
        code(&change.sentence()),
        plural(change.cases().len(), "case"),
        code(change.cases().first().copied().unwrap_or_default()),
        change.path(),
        code(&change.again(report))
    )
}

fn contracts(out: &mut String, report: &Report) {
    let mut line = |text: String| writeln!(out, "{text}").expect("writing to memory does not fail");
    line("<details><summary>Contracts</summary>".to_owned());
    line(String::new());
    line(
        "| contract | verdict | clauses | cases | passed | failed | errored | not supported | not run |"
            .to_owned(),
    );
    line("|---|---|---:|---:|---:|---:|---:|---:|---:|".to_owned());
    for contract in &report.contracts {
        let counts = &contract.counts;
        line(format!(
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            cell(&contract.name),
            contract.verdict.label(),
            counts.clauses,
            counts.cases,
            counts.passed,
            counts.failed,
            counts.errored,
            counts.not_supported,
            counts.not_run
        ));
    }
    line("</details>".to_owned());
}

pub(super) fn cell(text: &str) -> String {
    escape(text).replace('|', "\\|").replace('\n', " ")
}

pub(super) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
