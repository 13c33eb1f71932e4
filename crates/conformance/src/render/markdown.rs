//! A report for a pull request: the verdict, a table, and folded details of what needs attention.

use std::fmt::Write as _;

use super::attention::causes;
use super::diff::diff;
use super::{deviations, plural, repeat_command};
use crate::report::{Report, Status};

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
    let mut line = |text: String| writeln!(out, "{text}").expect("writing to memory does not fail");
    let failed = causes(report, Status::Failed);
    for cause in failed.iter().take(SHOWN) {
        let id = format!("{}/{}", cause.clause.id, cause.case.name);
        let more = if cause.others.is_empty() {
            String::new()
        } else {
            format!(", and {} of the same cause", plural(cause.others.len(), "more case"))
        };
        line(format!(
            "<details><summary>✗ <b>{}</b> {}</summary>",
            cause.clause.id,
            escape(&cause.clause.text)
        ));
        line(String::new());
        line(format!("Case `{}`{more}.", id.replace('`', "'")));
        line(String::new());
        line("````diff".to_owned());
        for story in &cause.case.story {
            line(format!("# {story}"));
        }
        for piece in diff(&cause.case.checks) {
            line(format!("{} {}", piece.sign, piece.text));
        }
        line("````".to_owned());
        line(String::new());
        line(format!("`- wanted, + got`. Again: `{}`", repeat_command(report, &id).replace('`', "'")));
        line("</details>".to_owned());
        line(String::new());
    }
    if failed.len() > SHOWN {
        line(format!("… and {}; the report has them all.", plural(failed.len() - SHOWN, "more cause")));
        line(String::new());
    }
}

fn findings(out: &mut String, report: &Report) {
    let mut line = |text: String| writeln!(out, "{text}").expect("writing to memory does not fail");
    let mut found = false;
    for contract in &report.contracts {
        for unexplained in &contract.unexplained {
            line(format!(
                "- ? `{}` became `{}`; no clause of {} explains it",
                unexplained.path,
                unexplained.became.replace('`', "'"),
                contract.name
            ));
            found = true;
        }
        for gap in &contract.gaps {
            line(format!(
                "- ? gap in {}: `{}` changes in `{}`, and no case would miss it",
                contract.name, gap.path, gap.case
            ));
            found = true;
        }
        for unasked in &contract.unasked {
            line(format!("- ? {}: {unasked}", contract.name));
            found = true;
        }
        for clause in &contract.clauses {
            if clause.status == Status::Passed && clause.proof.as_ref().is_some_and(|proof| !proof.proven) {
                line(format!("- ? {} is not proven able to fail", clause.id));
                found = true;
            }
        }
    }
    for waiver in &report.waivers {
        line(format!(
            "- waiver of {}: {:?}, until {} ({})",
            waiver.clause,
            waiver.state,
            waiver.expires,
            cell(&waiver.owner)
        ));
        found = true;
    }
    for name in &report.left_behind {
        line(format!("- left behind in the cluster: {}", cell(name)));
        found = true;
    }
    if found {
        line(String::new());
    }
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
