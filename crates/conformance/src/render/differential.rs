//! The outcome of a differential run on a terminal: a line per webhook or controller, each unexplained difference with its smallest
//! input, and the explanations of the others.

use std::fmt::Write as _;

use serde_json::Value;

use super::failure::diff_line;
use super::style::{Tone, View};
use super::text::prefixed;
use super::{plural, thousands};
use crate::difference::{Sides, diff_of_changes};
use crate::differential::outcome::{Example, Group, Outcome, Subject, SubjectOutcome};
use crate::observation::format_value;
use crate::report::ValueChange;
use crate::target::Identity;

/// Number of lines of a value that are shown.
const LINES: usize = 60;

/// The outcome as text; a quiet view gets the conclusion, a verbose one an example of every group.
#[must_use]
pub fn differential(outcome: &Outcome, view: &View<'_>) -> String {
    let mut out = String::new();
    if !view.quiet {
        line(&mut out, &format!("a  {}", describe_target(&outcome.a)));
        line(&mut out, &format!("b  {}", describe_target(&outcome.b)));
        line(&mut out, "");
        let widest = outcome.found().map(|found| found.subject.name().chars().count()).max().unwrap_or(0);
        outcome.found().for_each(|found| line(&mut out, &webhook(found, widest, view)));
        line(&mut out, "");
        outcome.found().for_each(|found| groups(&mut out, found, view));
        for place in &outcome.idle_explanations {
            line(
                &mut out,
                &view.paint(Tone::Faint, &format!("– the explanation at {place} explained nothing")),
            );
        }
    }
    for error in &outcome.environment_errors {
        line(&mut out, &format!("{} {error}", view.paint(Tone::Warn, "!")));
    }
    line(&mut out, &conclusion(outcome, view));
    out
}

fn describe_target(identity: &Identity) -> String {
    let version = identity.version.as_ref().map(|version| format!(" {version}")).unwrap_or_default();
    format!("{}{version} · {}", identity.name, identity.endpoint)
}

fn webhook(found: &SubjectOutcome, widest: usize, view: &View<'_>) -> String {
    let unexplained = found.groups.iter().filter(|group| group.explanation.is_none()).count();
    let (sign, tone) = match (found.compared, unexplained) {
        (0, _) => ("–", Tone::Warn),
        (_, 0) => ("✓", Tone::Good),
        _ => ("✗", Tone::Bad),
    };
    let mut text = format!(
        "  {} {:widest$}  {:>12}",
        view.paint(tone, sign),
        found.subject.name(),
        plural(found.compared, noun(found))
    );
    let effects: Vec<String> =
        found.effects.iter().map(|(effect, count)| format!("{} {effect}", thousands(*count))).collect();
    if !effects.is_empty() {
        let _ = write!(text, "  {}", effects.join(", "));
    }
    let differing = format!("{} differ", thousands(found.differing));
    let words = match (found.differing, unexplained) {
        (0, _) if found.compared == 0 => String::new(),
        (0, _) => " · none differs".to_owned(),
        (_, 0) => format!(" · {differing}, explained"),
        (_, count) => {
            let words = format!("{differing}, {} unexplained", plural(count, "group"));
            format!(" · {}", view.paint(Tone::Bad, &words))
        }
    };
    text.push_str(&words);
    if found.not_served > 0 {
        let _ = write!(text, " · {} not served by both", thousands(found.not_served));
    }
    if let Some(reason) = &found.silent {
        let _ = write!(text, "  {reason}");
    }
    text
}

/// The word for the inputs of a webhook or a controller.
fn noun(found: &SubjectOutcome) -> &'static str {
    match found.subject {
        Subject::Webhook(_) => "input",
        Subject::Controller(_) => "world",
    }
}

fn groups(out: &mut String, found: &SubjectOutcome, view: &View<'_>) {
    for group in &found.groups {
        let head =
            format!("{}  {}  {}", found.subject.name(), group.place, plural(group.inputs, noun(found)));
        if let Some(explained) = &group.explanation {
            let clause = explained.clause.as_ref().map(|clause| format!("{clause}: ")).unwrap_or_default();
            line(out, &view.cut(&format!("{} {head}", view.paint(Tone::Faint, "=")), 0));
            line(out, &format!("    {clause}{}", explained.reason));
        } else {
            line(out, &format!("{} {}", view.paint(Tone::Bad, "✗"), view.paint(Tone::Strong, &head)));
        }
        if view.verbose || group.explanation.is_none() {
            values(out, group, view);
            given(out, group);
        }
        line(out, "");
    }
}

/// The values of both targets; of lists and texts only what differs.
fn values(out: &mut String, group: &Group, view: &View<'_>) {
    let Example { input, a, b, .. } = &group.example;
    let text = |value: &Option<Value>| value.as_ref().map(|value| format_value(Some(value)));
    let change = ValueChange { path: group.place.clone(), before: text(a), after: text(b) };
    let lines = diff_of_changes(&[change], Sides::TARGETS);
    let is_whole = lines.iter().all(|line| line.depth == 0);
    if is_whole {
        if input.is_some() {
            value(out, "request", input.as_ref(), view);
        }
        value(out, "a", a.as_ref(), view);
        value(out, "b", b.as_ref(), view);
    } else {
        for piece in &lines {
            diff_line(out, piece, view);
        }
    }
}

fn value(out: &mut String, name: &str, value: Option<&Value>, view: &View<'_>) {
    prefixed(out, (&format!("    {name:8} "), 13), &format_value(value), view);
}

fn given(out: &mut String, group: &Group) {
    line(out, "    given");
    let text =
        formats::yaml::to_string(&group.example.given).unwrap_or_else(|_| group.example.given.to_string());
    let lines: Vec<&str> = text.lines().collect();
    lines.iter().take(LINES).for_each(|text| line(out, &format!("      {text}")));
    if lines.len() > LINES {
        line(out, &format!("      … {} (-o json has them all)", plural(lines.len() - LINES, "line")));
    }
}

fn conclusion(outcome: &Outcome, view: &View<'_>) -> String {
    let compared: usize = outcome.found().map(|found| found.compared).sum();
    let differing: usize = outcome.found().map(|found| found.differing).sum();
    let unexplained = outcome.unexplained();
    let (words, tone) = match (outcome.interrupted, unexplained, compared) {
        (Some(_), _, _) => ("interrupted".to_owned(), Tone::Warn),
        (_, 0, 0) => ("nothing was compared".to_owned(), Tone::Warn),
        (_, 0, _) => ("every difference is explained".to_owned(), Tone::Good),
        (_, count, _) => (format!("{} unexplained", plural(count, "group")), Tone::Bad),
    };
    format!(
        "{} · {}, {} differ · seed {}",
        view.paint(tone, &words),
        plural(compared, if outcome.webhooks.is_empty() { "world" } else { "input" }),
        thousands(differing),
        outcome.seed
    )
}

fn line(out: &mut String, text: &str) {
    writeln!(out, "{}", text.trim_end()).expect("writing to memory does not fail");
}
