//! Findings beyond single cases: unexplained changes, gaps, clauses that are not proven, waivers.

use super::failure::diff_line;
use super::lines::{line, prefixed};
use super::plural;
use super::style::{Tone, View};
use super::unexplained::{REMEDY, UnexplainedChange, unexplained_of};
use crate::report::{ClauseResult, Report, Status, WaiverState};

/// Number of damages that are listed per clause.
const NAMED: usize = 3;
/// What precedes gaps and unproven clauses where the target is not ours: they do not count in the verdict.
pub(super) const ABOUT_CONTRACTS: &str =
    "about this contract, not about your webhook (please report it to this project)";

/// All findings, and an empty line if there are any.
pub(super) fn findings(out: &mut String, report: &Report, view: &View<'_>) {
    let before = out.len();
    for found in unexplained_of(report) {
        change(out, report, &found, view);
    }
    for contract in &report.contracts {
        for unasked in &contract.unasked {
            let head = format!("{} ", view.paint(Tone::Warn, "?"));
            prefixed(out, (&head, 2), &format!("{}: {unasked}", contract.name), view);
        }
    }
    of_contracts_themselves(out, report, view);
    waivers(out, report, view);
    for name in &report.left_behind {
        line(out, &format!("{} left behind in the cluster: {name}", view.paint(Tone::Warn, "!")));
    }
    if out.len() > before && !out.ends_with("\n\n") {
        line(out, "");
    }
}

/// A change that no clause explains, with the first of its cases.
fn change(out: &mut String, report: &Report, found: &UnexplainedChange<'_>, view: &View<'_>) {
    let head = format!("{} ", view.paint(Tone::Warn, "?"));
    let objects = found.objects();
    let whose = if objects.is_empty() { String::new() } else { format!(" of {objects}") };
    let text = format!("{}: no clause explains a change{whose}", found.contracts());
    prefixed(out, (&head, 2), &text, view);
    found.diff().iter().for_each(|piece| diff_line(out, piece, view));
    let cases = found.cases();
    let first = cases.first().copied().unwrap_or_default();
    prefixed(out, ("  ", 2), &format!("in {}, first {first}", plural(cases.len(), "case")), view);
    line(out, &format!("  again   {}", found.again(report)));
    prefixed(out, ("  remedy  ", 10), &format!("{REMEDY}: {}", found.path()), view);
    line(out, "");
}

/// Gaps and clauses that are not proven, without findings about a target of another author.
fn of_contracts_themselves(out: &mut String, report: &Report, view: &View<'_>) {
    let mut text = String::new();
    for contract in &report.contracts {
        for gap in &contract.gaps {
            let name = &contract.name;
            let found =
                format!("gap in {name}: {} changes in {}, and no case would miss it", gap.path, gap.case);
            prefixed(&mut text, (&format!("{} ", view.paint(Tone::Warn, "?")), 2), &found, view);
        }
        for clause in &contract.clauses {
            unproven(&mut text, clause, view);
        }
    }
    if report.target.kind.is_foreign() && !text.is_empty() {
        if !out.ends_with("\n\n") {
            line(out, "");
        }
        line(out, &format!("{ABOUT_CONTRACTS}:"));
    }
    out.push_str(&text);
}

fn unproven(out: &mut String, clause: &ClauseResult, view: &View<'_>) {
    let Some(proof) = clause.proof.as_ref().filter(|proof| !proof.proven && clause.status == Status::Passed)
    else {
        return;
    };
    line(out, &format!("{} {} is not proven able to fail", view.paint(Tone::Warn, "?"), clause.id));
    for survivor in proof.survivors.iter().take(NAMED) {
        let text = format!("{} passes though {}: {}", survivor.case, survivor.damage, survivor.text);
        prefixed(out, ("    ", 4), &text, view);
    }
    for assertion in proof.undamaged.iter().take(NAMED) {
        prefixed(out, ("    ", 4), &format!("nothing can break {assertion}"), view);
    }
}

fn waivers(out: &mut String, report: &Report, view: &View<'_>) {
    for waiver in &report.waivers {
        let (clause, owner) = (&waiver.clause, &waiver.owner);
        let text = match waiver.state {
            WaiverState::Expired => format!("the waiver of {clause} expired on {} ({owner})", waiver.expires),
            WaiverState::UnexpectedPass => format!("{clause} passes: remove its waiver ({owner})"),
            WaiverState::Used | WaiverState::Unused => continue,
        };
        line(out, &format!("{} {text}", view.paint(Tone::Warn, "!")));
    }
}
