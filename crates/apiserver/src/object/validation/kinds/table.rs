//! The tables of what holds for kinds: one row a check, read once, applied in order.
//!
//! `spec.replicas: at least 0` checks what is at a path; an absent value is shown to `required` and to named checks
//! alone. A field with `?` ends the path where it is absent. `[]` is any element. `if …` as in
//! [`crate::condition`], of the last element, or of the whole. `PATH < section` applies another section there.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde_json::Value;
use webhook::field::Error;

use super::check::{Check, Found};
use crate::condition::Condition;
use crate::object::sections;

const TABLES: &[&str] = &[
    include_str!("tables/pod.txt"),
    include_str!("tables/core.txt"),
    include_str!("tables/apps.txt"),
    include_str!("tables/other.txt"),
];

static SECTIONS: LazyLock<BTreeMap<&str, Vec<Row>>> = LazyLock::new(|| sections::read(TABLES, Row::read));

#[derive(Debug)]
struct Row {
    path: Vec<Step>,
    action: Action,
    condition: Option<Condition>,
}

#[derive(Debug)]
enum Step {
    Field { name: String, optional: bool },
    Each,
}

#[derive(Debug)]
enum Action {
    Check(Check),
    Apply(&'static str),
}

/// What a section says of an object (and of the one before it), at a path; nothing for unknown sections.
pub(super) fn errors(section: &str, found: &Found<'_>) -> Vec<Error> {
    let mut errors = Vec::new();
    for row in SECTIONS.get(section).into_iter().flatten() {
        row.apply(found, &mut errors);
    }
    errors
}

impl Row {
    /// Reads a row; the tables are part of the program, so that one that is none is told by the test below.
    fn read(line: &'static str) -> Self {
        let (line, condition) = match line.rsplit_once(" if ") {
            Some((line, condition)) => (line, Some(Condition::read(condition))),
            None => (line, None),
        };
        let (path, action) = if let Some((path, section)) = line.split_once(" < ") {
            (path, Action::Apply(section.trim()))
        } else {
            let (path, check) = line.split_once(':').expect("every row is read by a test");
            (path, Action::Check(Check::read(check.trim())))
        };
        let path = path.trim();
        let steps = if path == "." { Vec::new() } else { path.split('.').flat_map(steps).collect() };
        Self { path: steps, action, condition }
    }

    fn apply(&self, found: &Found<'_>, errors: &mut Vec<Error>) {
        let last_list = self.path.iter().rposition(|step| matches!(step, Step::Each));
        let (to_elements, rest) = self.path.split_at(last_list.map_or(0, |at| at + 1));
        each(found, to_elements, &mut |element| {
            let holds = |condition: &Condition| element.value.is_some_and(|value| condition.holds(value));
            if self.condition.as_ref().is_none_or(holds) {
                each(element, rest, &mut |place| self.act(place, errors));
            }
        });
    }

    fn act(&self, place: &Found<'_>, errors: &mut Vec<Error>) {
        match &self.action {
            Action::Check(check) => errors.extend(check.errors(place)),
            Action::Apply(section) => {
                for row in SECTIONS.get(section).into_iter().flatten() {
                    row.apply(place, errors);
                }
            }
        }
    }
}

/// `containers[]`, `livenessProbe?`, `spec`.
fn steps(text: &str) -> Vec<Step> {
    let (text, each) = match text.strip_suffix("[]") {
        Some(text) => (text, true),
        None => (text, false),
    };
    let (name, optional) = match text.strip_suffix('?') {
        Some(name) => (name, true),
        None => (text, false),
    };
    let field = Step::Field { name: name.to_owned(), optional };
    std::iter::once(field).chain(each.then_some(Step::Each)).collect()
}

/// Does something with every place that a path leads to.
fn each(found: &Found<'_>, path: &[Step], act: &mut dyn FnMut(&Found<'_>)) {
    match path {
        [] => act(found),
        [Step::Field { name, optional }, rest @ ..] => {
            let below = found.field(name);
            if !(*optional && below.value.is_none_or(Value::is_null)) {
                each(&below, rest, act);
            }
        }
        [Step::Each, rest @ ..] => {
            let count = found.value.and_then(Value::as_array).map_or(0, Vec::len);
            (0..count).for_each(|index| each(&found.element(index), rest, act));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::sections::checks;

    #[test]
    fn every_section_is_a_kind_or_applied_somewhere() {
        let applied = |row: &Row| match row.action {
            Action::Apply(section) => Some(section),
            Action::Check(_) => None,
        };
        assert_eq!(checks::unknown_sections(&SECTIONS, applied), [] as [&str; 0]);
    }

    #[test]
    fn every_path_is_one_of_its_kind() {
        for (section, rows) in SECTIONS.iter() {
            for row in rows {
                let step = |step: &Step| match step {
                    Step::Field { name, .. } => format!(".{name}"),
                    Step::Each => "[]".to_owned(),
                };
                let path: String = row.path.iter().map(step).collect();
                assert!(checks::has_field(section, &path), "{section}: {path}");
            }
        }
    }
}
