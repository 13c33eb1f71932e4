//! Differences as the lines of a diff: each parent once, what is gone or expected with `-`, what is added or actual with `+`;
//! and as sentences.

use std::borrow::Cow;

use super::checks::{PlacedDifference, Shown, found, found_changes};
use super::{Edit, EditKind, REORDERED, Sides, occurs, on_one_line};
use crate::report::{Check, ValueChange};

/// Number of differences in one sentence.
const NAMED: usize = 3;

/// One line of a diff.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiffLine {
    /// ` ` for a parent or a sentence, `-` for the expected or first value, `+` for the actual or second one.
    pub sign: char,
    /// Number of parents above it.
    pub depth: usize,
    /// The line, without indentation.
    pub text: String,
    /// Shown the line is, after the text: `wanted`, `is gone`.
    pub note: Cow<'static, str>,
}

/// The failed checks of one case as a diff.
#[must_use]
pub fn diff(checks: &[&Check]) -> Vec<DiffLine> {
    DiffWriter::of(&found(checks))
}

/// Changes of values as a diff.
#[must_use]
pub fn diff_of_changes(changes: &[ValueChange], sides: Sides) -> Vec<DiffLine> {
    DiffWriter::of(&found_changes(changes, sides))
}

/// Failed checks as sentences, one for each difference: `spec.replicas: wanted 3, got 2`.
#[must_use]
pub fn sentences(checks: &[&Check]) -> Vec<String> {
    found(checks).iter().flat_map(sentences_of).collect()
}

/// Changes as one sentence, which names the first three: `kubelet.service, ExecStart: --a occurs twice`.
#[must_use]
pub fn sentence_of_changes(changes: &[ValueChange], sides: Sides) -> String {
    first_of(&found_changes(changes, sides).iter().flat_map(sentences_of).collect::<Vec<String>>())
}

/// The first three sentences as one.
#[must_use]
pub fn first_of(sentences: &[String]) -> String {
    let more = sentences.len().saturating_sub(NAMED);
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    format!("{}{more}", sentences[..sentences.len().min(NAMED)].join("; "))
}

fn sentences_of(found: &PlacedDifference) -> Vec<String> {
    let within = |place: &[String], text: &str| {
        let parents: Vec<&str> = found.parents.iter().chain(place).map(String::as_str).collect();
        if parents.is_empty() { text.to_owned() } else { format!("{}: {text}", parents.join(", ")) }
    };
    match &found.what {
        Shown::Text(text) => vec![within(&[], &on_one_line(text))],
        Shown::Edits(edits, sides) => edits
            .iter()
            .map(|edit| {
                let place = edit.place.iter().chain(&edit.name).cloned().collect::<Vec<String>>();
                within(&place, &edit.words(*sides))
            })
            .collect(),
    }
}

#[derive(Default)]
struct DiffWriter {
    lines: Vec<DiffLine>,
    open: Vec<String>,
}

impl DiffWriter {
    fn of(found: &[PlacedDifference]) -> Vec<DiffLine> {
        let mut lines = Self::default();
        for PlacedDifference { parents, what } in found {
            match what {
                Shown::Text(text) => {
                    lines.open(parents.clone());
                    lines.push(' ', text, "");
                }
                Shown::Edits(edits, sides) => edits.iter().for_each(|edit| lines.edit(parents, edit, *sides)),
            }
        }
        lines.lines
    }

    /// Writes the parents that are not written yet.
    fn open(&mut self, parents: Vec<String>) {
        let shared = self.open.iter().zip(&parents).take_while(|(open, wanted)| open == wanted).count();
        for (depth, parent) in parents.iter().enumerate().skip(shared) {
            self.lines.push(DiffLine { sign: ' ', depth, text: format!("{parent}:"), note: "".into() });
        }
        self.open = parents;
    }

    /// A text of several lines has its note after the last.
    fn push(&mut self, sign: char, text: &str, note: impl Into<Cow<'static, str>>) {
        let (depth, note) = (self.open.len(), note.into());
        let texts: Vec<&str> = text.trim_end_matches('\n').split('\n').collect();
        for (at, text) in texts.iter().enumerate() {
            let note = if at + 1 == texts.len() { note.clone() } else { "".into() };
            self.lines.push(DiffLine { sign, depth, text: (*text).to_owned(), note });
        }
    }

    fn edit(&mut self, parents: &[String], edit: &Edit, sides: Sides) {
        self.open(parents.iter().chain(&edit.place).cloned().collect());
        let name = edit.name.as_ref().map(|name| format!("{name}: ")).unwrap_or_default();
        let mut push =
            |sign, value: &str, note: Cow<'static, str>| self.push(sign, &format!("{name}{value}"), note);
        match &edit.kind {
            EditKind::Gone(value) => push('-', value, sides.gone.into()),
            EditKind::Added(value) => push('+', value, sides.added.into()),
            EditKind::Changed { before, after } => {
                push('-', before, sides.first.into());
                push('+', after, sides.second.into());
            }
            EditKind::Repeated { member, times } => push('+', member, occurs(*times).into()),
            EditKind::Reordered => push('+', REORDERED, "".into()),
        }
    }
}
