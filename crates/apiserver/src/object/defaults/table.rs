//! The tables of defaults, one row per field, parsed once.
//!
//! `spec.ports[].protocol = TCP` sets a field that is absent, null or empty; `:=` also one that is 0. Fields with `?`
//! must exist, others are created. `[]` means every element. `if PATH is V`, `if PATH present` and `if PATH absent`
//! refer to the last element, or to the object without one; `if no source` holds if an object has no field except its
//! name. `PATH < name` applies another section at the path.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde_json::{Map, Value};

use crate::condition::Condition;
use crate::object::sections;

const TABLES: &[&str] = &[
    include_str!("tables/pod.txt"),
    include_str!("tables/core.txt"),
    include_str!("tables/apps.txt"),
    include_str!("tables/batch.txt"),
    include_str!("tables/other.txt"),
];

static SECTIONS: LazyLock<BTreeMap<&str, Vec<DefaultRow>>> =
    LazyLock::new(|| sections::read(TABLES, DefaultRow::read));

#[derive(Debug)]
struct DefaultRow {
    path: Vec<PathStep>,
    action: Action,
    condition: Option<Condition>,
}

#[derive(Debug)]
enum PathStep {
    /// A field that is created if it is missing.
    Create(String),
    /// A field that must exist; otherwise the row does not apply.
    Existing(String),
    /// Every element of a list.
    Elements,
}

#[derive(Debug)]
enum Action {
    Set { value: Value, also_zero: bool },
    Apply(&'static str),
}

/// Applies the section of a kind (`apps/v1 Deployment`) to an object; does nothing for kinds without one.
pub(super) fn apply(section: &str, object: &mut Value) {
    for row in SECTIONS.get(section).into_iter().flatten() {
        row.apply(object);
    }
}

impl DefaultRow {
    /// Parses a row. The tables are part of the program; a test below parses them all.
    fn read(line: &'static str) -> Self {
        let (line, condition) = match line.split_once(" if ") {
            Some((line, condition)) => (line, Some(Condition::read(condition))),
            None => (line, None),
        };
        let set = |value: &str, also_zero| {
            let value = formats::yaml::from_str(value).expect("every row is read by a test");
            Action::Set { value, also_zero }
        };
        let (path, action) = if let Some((path, section)) = line.split_once(" < ") {
            (path, Action::Apply(section.trim()))
        } else if let Some((path, value)) = line.split_once(" := ") {
            (path, set(value, true))
        } else {
            let (path, value) = line.split_once(" = ").expect("every row is read by a test");
            (path, set(value, false))
        };
        let mut path: Vec<PathStep> = path.trim().split('.').flat_map(steps).collect();
        // The parents of a field that must exist must exist as well.
        let last_existing =
            path.iter().rposition(|step| matches!(step, PathStep::Existing(_))).unwrap_or_default();
        for step in &mut path[..last_existing] {
            if let PathStep::Create(name) = step {
                *step = PathStep::Existing(std::mem::take(name));
            }
        }
        Self { path, action, condition }
    }

    fn apply(&self, object: &mut Value) {
        let last_list = self.path.iter().rposition(|step| matches!(step, PathStep::Elements));
        let (to_elements, rest) = self.path.split_at(last_list.map_or(0, |at| at + 1));
        for_each_value(object, to_elements, &mut |element| {
            if self.condition.as_ref().is_none_or(|condition| condition.holds(element)) {
                self.apply_to(element, rest);
            }
        });
    }

    fn apply_to(&self, element: &mut Value, path: &[PathStep]) {
        let applies = matches!(self.action, Action::Apply(_));
        let Some(target) = value_at(element, path, applies) else { return };
        match &self.action {
            Action::Apply(section) => apply(section, target),
            Action::Set { value, also_zero } => {
                let zero = target.as_i64() == Some(0) && *also_zero;
                if target.is_null() || *target == "" || zero {
                    *target = value.clone();
                }
            }
        }
    }
}

/// `containers[]`, `livenessProbe?`, `spec`.
fn steps(text: &str) -> Vec<PathStep> {
    if let Some(name) = text.strip_suffix("[]") {
        return vec![PathStep::Existing(name.to_owned()), PathStep::Elements];
    }
    match text.strip_suffix('?') {
        Some(name) => vec![PathStep::Existing(name.to_owned())],
        None => vec![PathStep::Create(text.to_owned())],
    }
}

/// Calls a function with every value at a path.
fn for_each_value(value: &mut Value, path: &[PathStep], act: &mut dyn FnMut(&mut Value)) {
    match path {
        [] => act(value),
        [PathStep::Elements, rest @ ..] => {
            value.as_array_mut().into_iter().flatten().for_each(|item| for_each_value(item, rest, act));
        }
        [PathStep::Existing(name) | PathStep::Create(name), rest @ ..] => {
            if let Some(below) = value.get_mut(name) {
                for_each_value(below, rest, act);
            }
        }
    }
}

/// The value at a path without lists, created where the path allows it; null if it had no value.
fn value_at<'a>(value: &'a mut Value, path: &[PathStep], applies: bool) -> Option<&'a mut Value> {
    let [step, rest @ ..] = path else { return Some(value) };
    let fields = value.as_object_mut()?;
    let below = match step {
        PathStep::Existing(name) => fields.get_mut(name)?,
        PathStep::Create(name) => fields.entry(name.clone()).or_insert(Value::Null),
        PathStep::Elements => return None,
    };
    if below.is_null() && (!rest.is_empty() || applies) {
        *below = Value::Object(Map::new());
    }
    value_at(below, rest, applies)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::object::sections::checks;

    #[test]
    fn every_section_is_a_kind_or_is_applied() {
        let applied = |row: &DefaultRow| match row.action {
            Action::Apply(section) => Some(section),
            Action::Set { .. } => None,
        };
        assert_eq!(checks::unknown_sections(&SECTIONS, applied), [] as [&str; 0]);
    }

    #[test]
    fn every_path_exists_in_its_kind() {
        for (section, rows) in SECTIONS.iter() {
            for row in rows {
                let step = |step: &PathStep| match step {
                    PathStep::Create(name) | PathStep::Existing(name) => format!(".{name}"),
                    PathStep::Elements => "[]".to_owned(),
                };
                let path: String = row.path.iter().map(step).collect();
                assert!(checks::has_field(section, &path), "{section}: {path}");
            }
        }
    }

    #[test]
    fn rows_set_absent_fields_under_their_condition() {
        let row = |text: &'static str, mut object: Value| {
            DefaultRow::read(text).apply(&mut object);
            object
        };
        let table = [
            ("a.b = 1", json!({}), json!({"a": {"b": 1}})),
            ("a.b = 1", json!({"a": {"b": 0}}), json!({"a": {"b": 0}})),
            ("a.b := 1", json!({"a": {"b": 0}}), json!({"a": {"b": 1}})),
            ("a = x", json!({"a": ""}), json!({"a": "x"})),
            ("a?.b = 1", json!({}), json!({})),
            ("a.b?.c = 1", json!({}), json!({})),
            ("l[].p = TCP", json!({"l": [{}, {"p": "UDP"}]}), json!({"l": [{"p": "TCP"}, {"p": "UDP"}]})),
            ("l[].p = 1 if t is x", json!({"l": [{"t": "x"}, {}]}), json!({"l": [{"t": "x", "p": 1}, {}]})),
            ("a = 1 if b.c absent", json!({"b": {"c": 1}}), json!({"b": {"c": 1}})),
            ("a = 1 if b.c present", json!({"b": {"c": 1}}), json!({"a": 1, "b": {"c": 1}})),
            (
                "l[].e = {} if no source",
                json!({"l": [{"name": "x"}, {"f": 1}]}),
                json!({"l": [{"name": "x", "e": {}}, {"f": 1}]}),
            ),
        ];
        for (text, given, want) in table {
            assert_eq!(row(text, given), want, "{text}");
        }
    }
}
