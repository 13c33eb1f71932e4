//! Renders reports and contracts for people and tools; pure functions.

use std::collections::BTreeMap;

use crate::report::{ContractResult, Report, Status, Verdict};

mod badge;
mod differential;
pub mod explain;
mod explore;
mod failure;
mod findings;
mod gate;
mod html;
mod json;
mod junit;
mod lines;
pub mod list;
mod markdown;
mod program_message;
mod proof;
mod sarif;
mod style;
mod text;
mod unexplained;

pub use badge::{badge, shields};
pub use differential::differential;
pub use explore::explore;
pub use gate::{gate, gate_markdown};
pub use html::{HtmlError, PAGE_STYLE, explore_html, html};
pub use json::json;
pub use junit::{JunitError, junit};
pub use markdown::markdown;
pub(crate) use program_message::program_message;
pub use proof::proof;
pub use sarif::sarif;
pub use style::{Plain, Style, Tone, View, wrap};
pub use text::text;

/// `✓`, `✗` and so on; a word follows it wherever it is alone.
#[must_use]
pub fn mark(status: Status) -> &'static str {
    match status {
        Status::Passed => "✓",
        Status::Failed => "✗",
        Status::Errored => "!",
        Status::Skipped | Status::NotSupported | Status::NotRun => "–",
        Status::Waived => "w",
        Status::UnexpectedPass | Status::Vacuous => "?",
    }
}

/// The sign of a contract: a broken SHOULD has `!`, although the verdict holds.
pub(crate) fn contract_sign(contract: &ContractResult) -> (&'static str, Tone) {
    match contract.verdict {
        Verdict::NonConformant => ("✗", Tone::Bad),
        _ if contract.counts.errored > 0 || contract.has_broken_should() => ("!", Tone::Warn),
        Verdict::Inconclusive => ("–", Tone::Faint),
        Verdict::Conformant | Verdict::Partial => ("✓", Tone::Good),
    }
}

/// The command that repeats one case.
#[must_use]
pub fn repeat_command(report: &Report, id: &str) -> String {
    format!("{} --case '{}'", report.run.command, id.replace('\'', r"'\''"))
}

/// The command that explains a clause, with the folder of contracts of the run.
#[must_use]
pub fn explain_command(report: &Report, clause: &str) -> String {
    format!("gardener-conformance explain{} {clause}", contracts_flag(&report.run.command))
}

/// ` --contracts FOLDER`, as the command line of the run has it; empty if it has none.
fn contracts_flag(command: &str) -> &str {
    const FLAG: &str = " --contracts ";
    let Some(at) = command.find(FLAG) else { return "" };
    let value = &command[at + FLAG.len()..];
    let end = match value.strip_prefix('\'') {
        // A quote inside of the word is written as '\'', which is not followed by a space.
        Some(quoted) => quoted.find("' ").map_or(value.len(), |end| end + 2),
        None => value.find(' ').unwrap_or(value.len()),
    };
    &command[at..at + FLAG.len() + end]
}

/// `1,204`.
pub(crate) fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `41 ms`, `1.9 s`.
pub(crate) fn duration(milliseconds: f64) -> String {
    // The empty sum is -0.0.
    let milliseconds = milliseconds.max(0.0);
    if milliseconds < 1000.0 {
        format!("{milliseconds:.0} ms")
    } else {
        format!("{:.1} s", milliseconds / 1000.0)
    }
}

/// `1 clause`, `2 clauses`.
#[must_use]
pub fn plural(number: usize, singular: &str) -> String {
    format!("{} {singular}{}", thousands(number), if number == 1 { "" } else { "s" })
}

/// How cases ran that did not run as the substrate says: `3 sent directly, 1 on embedded API servers`.
pub(crate) fn deviations(report: &Report) -> String {
    let clauses = report.contracts.iter().flat_map(|contract| &contract.clauses);
    let deviating = clauses.flat_map(|clause| &clause.cases).filter_map(|case| case.asked.as_deref());
    let mut counted: BTreeMap<&str, usize> = BTreeMap::new();
    for deviation in deviating {
        // The reason follows the colon.
        *counted.entry(deviation.split(": ").next().unwrap_or(deviation)).or_default() += 1;
    }
    let counted = counted.iter().map(|(how, number)| format!("{} {how}", thousands(*number)));
    counted.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_of_contracts_is_taken_from_the_command_of_the_run() {
        let table = [
            ("gardener-conformance run", ""),
            ("gardener-conformance run --contracts mine", " --contracts mine"),
            ("gardener-conformance run --contracts mine --strict", " --contracts mine"),
            ("gardener-conformance run --contracts 'my own' --strict", " --contracts 'my own'"),
            (r"gardener-conformance run --contracts 'it'\''s'", r" --contracts 'it'\''s'"),
        ];
        for (command, want) in table {
            assert_eq!(contracts_flag(command), want, "{command}");
        }
    }
}
