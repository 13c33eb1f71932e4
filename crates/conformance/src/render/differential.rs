//! The outcome of a differential run on a terminal: a line per webhook or controller, each unexplained difference with its smallest
//! input, and the explanations of the others.

use std::collections::{BTreeMap, BTreeSet};

use super::lines::{line, prefixed};
use super::style::{Tone, View};
use super::{plural, thousands};
use crate::differential::outcome::{Outcome, Subject, SubjectOutcome};
use crate::target::Identity;

mod example;

/// The outcome as text; a quiet view gets the conclusion, a verbose one an example of every group.
#[must_use]
pub fn differential(outcome: &Outcome, view: &View<'_>) -> String {
    let mut out = String::new();
    if !view.quiet {
        prefixed(&mut out, ("a  ", 3), &describe_target(&outcome.a), view);
        prefixed(&mut out, ("b  ", 3), &describe_target(&outcome.b), view);
        line(&mut out, "");
        subjects(&mut out, outcome, view);
        line(&mut out, "");
        outcome.found().for_each(|found| groups(&mut out, outcome, found, view));
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

/// A line for each that was compared, and one for all others with the same reason.
fn subjects(out: &mut String, outcome: &Outcome, view: &View<'_>) {
    let (compared, silent): (Vec<&SubjectOutcome>, Vec<&SubjectOutcome>) =
        outcome.found().partition(|found| found.compared > 0 || found.silent.is_none());
    let widest = compared.iter().map(|found| title(outcome, found).chars().count()).max().unwrap_or(0);
    for found in compared {
        subject(out, &title(outcome, found), widest, found, view);
    }
    let mut reasons: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for found in silent {
        let reason = found.silent.as_deref().unwrap_or_default();
        reasons.entry(reason).or_default().insert(found.subject.name());
    }
    for (reason, names) in reasons {
        let names = names.into_iter().collect::<Vec<&str>>().join(", ");
        let head = format!("  {} ", view.paint(Tone::Warn, "–"));
        prefixed(out, (&head, 4), &format!("not compared: {names}: {reason}"), view);
    }
}

/// The name; with that of the contract if other contracts are about the same webhook.
fn title(outcome: &Outcome, found: &SubjectOutcome) -> String {
    let name = found.subject.name();
    let same = outcome.found().filter(|other| other.subject == found.subject && other.compared > 0).count();
    if same > 1 && found.contract != name { format!("{name} ({})", found.contract) } else { name.to_owned() }
}

/// `✗ name  60 inputs  28 patched, 32 unchanged · 2 differ, 1 group unexplained`; counts that do not fit are below.
fn subject(out: &mut String, name: &str, widest: usize, found: &SubjectOutcome, view: &View<'_>) {
    let unexplained = found.groups.iter().filter(|group| group.explanation.is_none()).count();
    let (sign, tone) = match (found.compared, unexplained) {
        (0, _) => ("–", Tone::Warn),
        (_, 0) => ("✓", Tone::Good),
        _ => ("✗", Tone::Bad),
    };
    let head =
        format!("  {} {name:widest$}  {:>12}", view.paint(tone, sign), plural(found.compared, noun(found)));
    let mut counts: Vec<String> = Vec::new();
    let effects: Vec<String> =
        found.effects.iter().map(|(effect, count)| format!("{} {effect}", thousands(*count))).collect();
    if !effects.is_empty() {
        counts.push(effects.join(", "));
    }
    match (found.differing, unexplained) {
        (0, _) if found.compared == 0 => {}
        (0, _) => counts.push("none differs".to_owned()),
        (differing, 0) => counts.push(format!("{} differ, explained", thousands(differing))),
        (differing, count) => {
            let differing = format!("{} differ", thousands(differing));
            counts.push(format!("{differing}, {} unexplained", plural(count, "group")));
        }
    }
    if found.not_served > 0 {
        counts.push(format!("{} not served by both", thousands(found.not_served)));
    }
    let (counts, used) = (counts.join(" · "), 4 + widest.max(name.chars().count()) + 2 + 12);
    if used + 2 + counts.chars().count() <= view.width {
        let counts = if unexplained > 0 { view.paint(Tone::Bad, &counts) } else { counts };
        line(out, &format!("{head}  {counts}"));
    } else {
        line(out, &head);
        prefixed(out, ("    ", 4), &counts, view);
    }
}

/// The word for the inputs of a webhook or a controller.
fn noun(found: &SubjectOutcome) -> &'static str {
    match found.subject {
        Subject::Webhook(_) => "input",
        Subject::Controller(_) => "world",
    }
}

fn groups(out: &mut String, outcome: &Outcome, found: &SubjectOutcome, view: &View<'_>) {
    let name = title(outcome, found);
    for group in &found.groups {
        let place = format!("{}  {}", group.place, plural(group.inputs, noun(found)));
        if let Some(explained) = &group.explanation {
            let clause = explained.clause.as_ref().map(|clause| format!("{clause}: ")).unwrap_or_default();
            let sign = format!("{} ", view.paint(Tone::Faint, "="));
            prefixed(out, (&sign, 2), &format!("{name}  {place}"), view);
            prefixed(out, ("    ", 4), &format!("{clause}{}", explained.reason), view);
        } else {
            let sign = format!("{} {}  ", view.paint(Tone::Bad, "✗"), view.paint(Tone::Strong, &name));
            prefixed(out, (&sign, name.chars().count() + 4), &place, view);
        }
        if view.verbose || group.explanation.is_none() {
            example::write(out, found, group, view);
        }
        line(out, "");
    }
    let is_open = found.groups.iter().any(|group| group.explanation.is_none());
    if let Some(command) = outcome.command.as_ref().filter(|_| is_open) {
        let flag = match &found.subject {
            Subject::Webhook(name) => format!("--webhook {name}"),
            Subject::Controller(name) => format!("--controller {name}"),
        };
        line(out, &format!("  again   {command} {flag}"));
        line(out, "");
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
