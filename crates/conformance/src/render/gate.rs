//! The gate's judgement on a terminal and for a pull request: failures and warnings, each with reason and remedy.

use std::fmt::Write as _;

use contract::document::policy::Action;

use super::explain::place;
use super::lines::{line, prefixed};
use super::markdown::{cell, escape};
use super::plural;
use super::style::{Tone, View};
use crate::gate::{Finding, Judgement};

/// Findings with their reasons and remedies, then whether the gate passes. With the view's `verbose`, also ignored findings.
#[must_use]
pub fn gate(judgement: &Judgement, view: &View<'_>) -> String {
    let mut out = String::new();
    if !view.quiet {
        let shown = |finding: &&Finding| {
            finding.action != Action::Ignore || view.verbose || finding.why.starts_with("waived")
        };
        for finding in judgement.findings.iter().filter(shown) {
            write_finding(&mut out, finding, view);
        }
    }
    let holds = judgement.exit_code == 0;
    let word = if holds { "holds" } else { "does not hold" };
    let tone = if holds { Tone::Good } else { Tone::Bad };
    let against = judgement.baseline.as_ref().map(|place| format!(" · baseline {place}")).unwrap_or_default();
    line(&mut out, &format!("gate     {}    {}", view.paint(tone, word), counts(judgement)));
    line(&mut out, &format!("         {} · policy {}{against}", judgement.target, judgement.policy));
    out
}

/// The same as GitHub-flavoured Markdown.
///
/// # Panics
/// Never: writing to memory does not fail.
#[must_use]
pub fn gate_markdown(judgement: &Judgement) -> String {
    let mut out = String::new();
    let mut line = |text: String| writeln!(out, "{text}").expect("writing to memory does not fail");
    let word = if judgement.exit_code == 0 { "holds" } else { "does not hold" };
    line(format!("## gardener-conformance: the gate {word}"));
    line(String::new());
    let against =
        judgement.baseline.as_ref().map(|place| format!(" · baseline {}", cell(place))).unwrap_or_default();
    line(format!(
        "**{}** · policy {}{against} · {} · exit code {}: {}",
        cell(&judgement.target),
        cell(&judgement.policy),
        counts(judgement),
        judgement.exit_code,
        cell(&judgement.cause)
    ));
    for (action, title) in [(Action::Fail, "Fails"), (Action::Warn, "Warns"), (Action::Ignore, "Accepted")] {
        if judgement.with(action).next().is_none() {
            continue;
        }
        line(String::new());
        line(format!("| {title} | what | why | what to do |"));
        line("|---|---|---|---|".to_owned());
        for finding in judgement.with(action) {
            let lines = [&finding.what].into_iter().chain(&finding.details);
            let what: Vec<String> = lines.map(|text| cell(text)).collect();
            line(format!(
                "| {} | {} | {} | {} |",
                escape(&subject(finding)).replace('|', "\\|"),
                what.join("<br>"),
                cell(&finding.why),
                cell(&finding.remedy)
            ));
        }
    }
    out
}

fn write_finding(out: &mut String, finding: &Finding, view: &View<'_>) {
    let (sign, tone) = match finding.action {
        Action::Fail => ("✗", Tone::Bad),
        Action::Warn => ("!", Tone::Warn),
        Action::Ignore => ("–", Tone::Faint),
    };
    let subject = subject(finding);
    let head = format!("{} {}  ", view.paint(tone, sign), view.paint(Tone::Strong, &subject));
    let columns = (subject.chars().count() + 4).min(view.width / 2);
    prefixed(out, (&head, columns), &finding.what, view);
    for detail in &finding.details {
        prefixed(out, ("    ", 4), detail, view);
    }
    let code = if finding.exit_code > 0 { format!(" (exit {})", finding.exit_code) } else { String::new() };
    prefixed(out, ("  why     ", 10), &format!("{}{code}", finding.why), view);
    prefixed(out, ("  remedy  ", 10), &finding.remedy, view);
    if let Some(location) = &finding.location {
        line(out, &format!("  clause  {}", place(location)));
    }
    line(out, "");
}

fn subject(finding: &Finding) -> String {
    let level = finding.level.map(|level| format!(" {}", crate::report::level(level))).unwrap_or_default();
    format!("{}{level}", finding.subject)
}

fn counts(judgement: &Judgement) -> String {
    let of = |action| judgement.with(action).count();
    let fail = of(Action::Fail);
    let verb = if fail == 1 { "fails" } else { "fail" };
    format!(
        "{} {verb} · {} · {} judged",
        plural(fail, "finding"),
        plural(of(Action::Warn), "warning"),
        plural(judgement.clauses, "clause")
    )
}
