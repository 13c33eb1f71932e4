//! The cause of the gate's exit code, in the words of a report's.

use contract::document::policy::Action;
use contract::model::Level;

use super::Finding;
use crate::render::plural;
use crate::report::{ContractResult, Status, WaiverUse, enumerate, level, waiver_reason};

/// Why the gate ends with this code: the findings that lead to it, or the warnings of a gate that passes.
pub(super) fn cause(
    code: u8,
    findings: &[Finding],
    contracts: &[ContractResult],
    waivers: &[WaiverUse],
) -> String {
    let deciding: Vec<&Finding> = findings.iter().filter(|finding| finding.exit_code == code).collect();
    match code {
        0 => success(findings, contracts),
        1 => clauses(&deciding, "broken"),
        5 => clauses(&deciding, "worse than in the baseline"),
        7 => waivers.iter().find_map(waiver_reason).unwrap_or_else(|| first(&deciding)),
        _ => first(&deciding),
    }
}

fn success(findings: &[Finding], contracts: &[ContractResult]) -> String {
    let results = || contracts.iter().flat_map(|contract| &contract.clauses);
    let is_broken = |finding: &&&Finding| {
        results().any(|clause| clause.id == finding.subject && clause.status == Status::Failed)
    };
    let warnings: Vec<&Finding> = findings.iter().filter(|finding| finding.action == Action::Warn).collect();
    let broken: Vec<&Finding> = warnings.iter().filter(is_broken).copied().collect();
    match (broken.as_slice(), warnings.len()) {
        ([], 0) => "the gate passes".to_owned(),
        ([], warnings) => format!("the gate passes; {}", plural(warnings, "warning")),
        (broken, _) => format!("the gate passes; warning: {}", clauses(broken, "broken")),
    }
}

/// `CP-093 (MUST) is broken`: the clauses of the highest level, or else what is no clause.
fn clauses(deciding: &[&Finding], state: &str) -> String {
    for wanted in [Level::Must, Level::Should, Level::May] {
        let ids: Vec<String> = deciding
            .iter()
            .filter(|finding| finding.level == Some(wanted))
            .map(|finding| finding.subject.clone())
            .collect();
        if !ids.is_empty() {
            let is = if ids.len() == 1 { "is" } else { "are" };
            return format!("{} ({}) {is} {state}", enumerate(&ids), level(wanted));
        }
    }
    first(deciding)
}

fn first(deciding: &[&Finding]) -> String {
    let Some(first) = deciding.first() else { return String::new() };
    let more = match deciding.len() {
        1 => String::new(),
        findings => format!("; and {}", plural(findings - 1, "more finding")),
    };
    format!("{}: {}{more}", first.subject, first.what)
}
