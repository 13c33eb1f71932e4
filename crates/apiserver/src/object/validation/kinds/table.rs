//! The tables of validations: one row per check, parsed once, applied in order.
//!
//! `spec.replicas: at least 0` checks the value at a path; only `required` and named checks see absent values. A
//! field with `?` skips the row if it is absent. `[]` means every element. `if …` is a [`crate::condition`] on the
//! last element, or on the object without one. `PATH < section` applies another section at the path.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde_json::Value;
use webhook::field::Error;

use super::check::{Check, FieldValue};
use super::check_text;
use crate::condition::Condition;
use crate::object::sections;

const TABLES: &[&str] = &[
    include_str!("tables/pod.txt"),
    include_str!("tables/core.txt"),
    include_str!("tables/apps.txt"),
    include_str!("tables/other.txt"),
];

static SECTIONS: LazyLock<BTreeMap<&str, Vec<ValidationRow>>> =
    LazyLock::new(|| sections::read(TABLES, ValidationRow::read));

#[derive(Debug)]
struct ValidationRow {
    path: Vec<PathSegment>,
    action: Action,
    condition: Option<Condition>,
}

#[derive(Debug)]
enum PathSegment {
    Field { name: String, optional: bool },
    Elements,
}

#[derive(Debug)]
enum Action {
    Check(Check),
    Apply(&'static str),
}

/// The errors of a section; empty for unknown sections.
pub(super) fn errors(section: &str, field: &FieldValue<'_>) -> Vec<Error> {
    let mut errors = Vec::new();
    for row in SECTIONS.get(section).into_iter().flatten() {
        row.apply(field, &mut errors);
    }
    errors
}

impl ValidationRow {
    /// Parses a row. The tables are part of the program; a test below parses them all.
    fn read(line: &'static str) -> Self {
        let (line, condition) = match line.rsplit_once(" if ") {
            Some((line, condition)) => (line, Some(Condition::read(condition))),
            None => (line, None),
        };
        let (path, action) = if let Some((path, section)) = line.split_once(" < ") {
            (path, Action::Apply(section.trim()))
        } else {
            let (path, check) = line.split_once(':').expect("every row is read by a test");
            (path, Action::Check(check_text::parse(check.trim())))
        };
        let path = path.trim();
        let steps = if path == "." { Vec::new() } else { path.split('.').flat_map(steps).collect() };
        Self { path: steps, action, condition }
    }

    fn apply(&self, field: &FieldValue<'_>, errors: &mut Vec<Error>) {
        let last_list = self.path.iter().rposition(|step| matches!(step, PathSegment::Elements));
        let (to_elements, rest) = self.path.split_at(last_list.map_or(0, |at| at + 1));
        for_each_value(field, to_elements, &mut |element| {
            let holds = |condition: &Condition| element.value.is_some_and(|value| condition.holds(value));
            if self.condition.as_ref().is_none_or(holds) {
                for_each_value(element, rest, &mut |value| self.apply_to(value, errors));
            }
        });
    }

    fn apply_to(&self, value: &FieldValue<'_>, errors: &mut Vec<Error>) {
        match &self.action {
            Action::Check(check) => errors.extend(check.errors(value)),
            Action::Apply(section) => {
                for row in SECTIONS.get(section).into_iter().flatten() {
                    row.apply(value, errors);
                }
            }
        }
    }
}

/// `containers[]`, `livenessProbe?`, `spec`.
fn steps(text: &str) -> Vec<PathSegment> {
    let (text, each) = match text.strip_suffix("[]") {
        Some(text) => (text, true),
        None => (text, false),
    };
    let (name, optional) = match text.strip_suffix('?') {
        Some(name) => (name, true),
        None => (text, false),
    };
    let field = PathSegment::Field { name: name.to_owned(), optional };
    std::iter::once(field).chain(each.then_some(PathSegment::Elements)).collect()
}

/// Calls a function with every value at a path.
fn for_each_value(field: &FieldValue<'_>, path: &[PathSegment], act: &mut dyn FnMut(&FieldValue<'_>)) {
    match path {
        [] => act(field),
        [PathSegment::Field { name, optional }, rest @ ..] => {
            let below = field.field(name);
            if !(*optional && below.value.is_none_or(Value::is_null)) {
                for_each_value(&below, rest, act);
            }
        }
        [PathSegment::Elements, rest @ ..] => {
            let count = field.value.and_then(Value::as_array).map_or(0, Vec::len);
            (0..count).for_each(|index| for_each_value(&field.element(index), rest, act));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::sections::checks;

    #[test]
    fn every_section_is_a_kind_or_is_applied() {
        let applied = |row: &ValidationRow| match row.action {
            Action::Apply(section) => Some(section),
            Action::Check(_) => None,
        };
        assert_eq!(checks::unknown_sections(&SECTIONS, applied), [] as [&str; 0]);
    }

    #[test]
    fn every_path_exists_in_its_kind() {
        for (section, rows) in SECTIONS.iter() {
            for row in rows {
                let step = |step: &PathSegment| match step {
                    PathSegment::Field { name, .. } => format!(".{name}"),
                    PathSegment::Elements => "[]".to_owned(),
                };
                let path: String = row.path.iter().map(step).collect();
                assert!(checks::has_field(section, &path), "{section}: {path}");
            }
        }
    }
}
