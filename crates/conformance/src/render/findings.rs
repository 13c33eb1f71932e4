//! Findings beyond single cases: unexplained mutations, broken laws, gaps, clauses that are not proven, waivers.

use super::plural;
use super::style::{Tone, View};
use super::text::line;
use crate::report::{ClauseResult, ContractResult, Report, Status, WaiverState};

/// Number of damages that are listed per clause.
const NAMED: usize = 3;

/// All findings, and an empty line if there are any.
pub(super) fn findings(out: &mut String, report: &Report, view: &View<'_>) {
    let before = out.len();
    for contract in &report.contracts {
        of_contract(out, contract, view);
    }
    of_contracts_themselves(out, report, view);
    waivers(out, report, view);
    for name in &report.left_behind {
        line(out, &format!("{} left behind in the cluster: {name}", view.paint(Tone::Warn, "!")));
    }
    if out.len() > before {
        line(out, "");
    }
}

fn of_contract(out: &mut String, contract: &ContractResult, view: &View<'_>) {
    let name = &contract.name;
    for found in &contract.unexplained {
        let times = plural(found.cases.len(), "case");
        let what = format!("{name}: {} became {} in {times}", found.path, found.became);
        let advice = "no clause explains it (declare it under the target's extras, or drop it)";
        line(out, &format!("{} {what}; {advice}", view.paint(Tone::Warn, "?")));
    }
    for law in contract.laws.iter().filter(|law| !law.broken.is_empty()) {
        let (sentence, times) = (crate::laws::sentence(law.law), plural(law.broken.len(), "case"));
        let text = format!("{name}: {sentence}: broken in {times}, first {}", law.broken[0].case);
        line(out, &format!("{} {}", view.paint(Tone::Bad, "✗"), view.cut(&text, 2)));
    }
    for unasked in &contract.unasked {
        line(out, &format!("{} {name}: {unasked}", view.paint(Tone::Warn, "?")));
    }
}

/// Gaps and clauses that are not proven, apart from the findings about a target that somebody else wrote.
fn of_contracts_themselves(out: &mut String, report: &Report, view: &View<'_>) {
    let mut text = String::new();
    for contract in &report.contracts {
        for gap in &contract.gaps {
            let name = &contract.name;
            let found =
                format!("gap in {name}: {} changes in {}, and no case would miss it", gap.path, gap.case);
            line(&mut text, &format!("{} {found}", view.paint(Tone::Warn, "?")));
        }
        for clause in &contract.clauses {
            unproven(&mut text, clause, view);
        }
    }
    if report.target.kind.is_foreign() && !text.is_empty() {
        line(out, "");
        line(out, "about this contract, not about your webhook (please report it to this project):");
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
        let text = format!("    {} passes though {}: {}", survivor.case, survivor.damage, survivor.text);
        line(out, &view.cut(&text, 0));
    }
    for assertion in proof.undamaged.iter().take(NAMED) {
        line(out, &view.cut(&format!("    nothing can break {assertion}"), 0));
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
