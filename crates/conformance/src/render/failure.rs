//! One cause of failed cases on a terminal: the sentence, the first case with its difference, and what to do.

use super::explain::{level, place, source};
use super::lines::{line, prefixed};
use super::program_message::program_message;
use super::style::{Tone, View};
use super::{explain_command, plural, repeat_command};
use crate::causes::{Cause, CauseKind};
use crate::difference::{DiffLine, diff, first_of};
use crate::report::{Report, Status};

/// Number of cases of one cause that are listed.
const NAMED: usize = 3;
/// Number of other ways in which a cause shows that are listed.
const VARIANTS: usize = 5;
/// Number of clauses that are listed by id.
const CLAUSES: usize = 12;

/// The cause as text, with an empty line at its end.
pub(super) fn write(out: &mut String, report: &Report, cause: &Cause<'_>, view: &View<'_>) {
    let sign = if matches!(cause.level(), contract::model::Level::Must) {
        view.paint(Tone::Bad, "✗")
    } else {
        view.paint(Tone::Warn, "!")
    };
    let subject = cause.subject();
    let head = format!("{sign} {}  ", view.paint(Tone::Strong, &subject));
    prefixed(out, (&head, subject.chars().count() + 4), cause.sentence(), view);
    prefixed(out, ("  ", 2), &summary(cause), view);
    line(out, "");
    case(out, cause, view);
    let shown = diff(&cause.checks);
    for piece in &shown {
        diff_line(out, piece, view);
    }
    if let Some(text) = cause.text {
        prefixed(out, ("    ", 4), text, view);
    }
    program(out, cause, view);
    variants(out, cause, view);
    if !cause.others.is_empty() {
        prefixed(out, ("  ", 2), &describe_others(cause), view);
    }
    if !cause.not_run.is_empty() {
        let clauses = list(&cause.not_run);
        prefixed(out, ("  ", 2), &format!("not run for this reason: {clauses}"), view);
    }
    line(out, "");
    line(out, &format!("  again   {}", repeat_command(report, &cause.id())));
    match cause.kind {
        CauseKind::Law(law) => prefixed(out, ("  why     ", 10), crate::laws::why(law), view),
        CauseKind::Exchange(failure) => prefixed(out, ("  why     ", 10), failure.why(), view),
        CauseKind::Clause(..) | CauseKind::Environment(_) => {
            line(out, &format!("  why     {}", explain_command(report, &cause.clause.id)));
        }
    }
    line(out, "");
}

/// `MUST · docs/… § kubelet · 1 of 3 cases failed`; for what clauses share, how many cases, clauses and contracts.
pub(super) fn summary(cause: &Cause<'_>) -> String {
    if let CauseKind::Clause(..) = cause.kind {
        let source = cause.clause.source.as_ref().map(source).filter(|source| !source.is_empty());
        let source = source.map(|source| format!(" · {source}")).unwrap_or_default();
        let failed = cause.clause.cases_with(Status::Failed).count();
        return format!(
            "{}{source} · {failed} of {} cases failed",
            level(cause.clause),
            cause.clause.cases.len()
        );
    }
    let clauses = cause.clauses();
    let contracts = cause.contracts();
    let within = match contracts.as_slice() {
        [contract] => (*contract).to_owned(),
        several => plural(several.len(), "contract"),
    };
    let cases = plural(cause.others.len() + 1, "case");
    format!("MUST · {cases} of {} in {within}: {}", plural(clauses.len(), "clause"), list(&clauses))
}

/// The first ids, and how many more there are.
pub(super) fn list(ids: &[&str]) -> String {
    let more = ids.len().saturating_sub(CLAUSES);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", ids[..ids.len().min(CLAUSES)].join(", "))
}

fn case(out: &mut String, cause: &Cause<'_>, view: &View<'_>) {
    let name = match cause.kind {
        CauseKind::Clause(..) => cause.case.name.clone(),
        _ => cause.id(),
    };
    let (left, right) = (format!("  case {name}"), place(&cause.case.location));
    let used = left.chars().count() + right.chars().count();
    if used + 2 > view.width {
        prefixed(out, ("  case ", 7), &name, view);
        line(out, &format!("       {}", view.paint(Tone::Faint, &right)));
    } else {
        line(out, &format!("{left}{}{}", " ".repeat(view.width - used), view.paint(Tone::Faint, &right)));
    }
    for story in &cause.case.story {
        let (word, rest) =
            story.split_at(story.find("  ").map_or(0, |at| story.len() - story[at..].trim_start().len()));
        prefixed(out, (&format!("    {word}"), 4 + word.chars().count()), rest, view);
    }
}

/// One line of a diff, wrapped, with its note at its end.
pub(super) fn diff_line(out: &mut String, piece: &DiffLine, view: &View<'_>) {
    let indent = 4 + 2 * piece.depth;
    let tone = if piece.sign == '-' { Tone::Good } else { Tone::Bad };
    let paint = |text: &str| if piece.sign == ' ' { text.to_owned() } else { view.paint(tone, text) };
    let lines = view.lines_beside(&piece.text, indent);
    let last = lines.len() - 1;
    for (at, text) in lines.iter().enumerate() {
        let text = format!("  {} {}{text}", piece.sign, "  ".repeat(piece.depth));
        if at < last || piece.note.is_empty() {
            line(out, &paint(&text));
            continue;
        }
        let note = view.paint(Tone::Faint, &piece.note);
        if text.chars().count() + 2 + piece.note.chars().count() > view.width {
            line(out, &paint(&text));
            line(out, &format!("{}{note}", " ".repeat(indent)));
        } else {
            line(out, &format!("{}  {note}", paint(&text)));
        }
    }
}

/// The output of the program during the exchange.
fn program(out: &mut String, cause: &Cause<'_>, view: &View<'_>) {
    let CauseKind::Exchange(_) = cause.kind else { return };
    let Some(message) = program_message(cause.case) else { return };
    prefixed(out, ("    ", 4), &format!("the webhook said: {}", message.text), view);
    if let Some(place) = &message.place {
        line(out, &format!("      at {place}"));
    }
}

/// The other ways in which the cause shows.
fn variants(out: &mut String, cause: &Cause<'_>, view: &View<'_>) {
    let variants = cause.variants();
    for (other, sentences) in variants.iter().take(VARIANTS) {
        let id = format!("{}/{}", other.clause.id, other.case.name);
        prefixed(out, ("  also ", 7), &format!("{id}: {}", first_of(sentences)), view);
    }
    if variants.len() > VARIANTS {
        line(out, &format!("  … and in {} more ways; the report has them all", variants.len() - VARIANTS));
    }
}

/// `and 19 more cases of 3 clauses: a, b, c, …`
pub(super) fn describe_others(cause: &Cause<'_>) -> String {
    if cause.others.is_empty() {
        return cause.id();
    }
    let named: Vec<String> = cause.other_ids().into_iter().take(NAMED).collect();
    let more = if cause.others.len() > NAMED { ", …" } else { "" };
    let clauses = cause.clauses().len();
    let of = if clauses > 1 { format!(" of {}", plural(clauses, "clause")) } else { String::new() };
    format!(
        "and {} of the same cause{of}: {}{more}",
        plural(cause.others.len(), "more case"),
        named.join(", ")
    )
}
