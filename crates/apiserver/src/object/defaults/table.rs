//! The tables of defaults: one row a field, read once.
//!
//! `spec.ports[].protocol = TCP` sets what is absent, null or empty; `:=` also what is 0. A field with `?` must be
//! there, others are made. `[]` is any element. `if PATH is V`, `if PATH present`, `if PATH absent` speak of the last
//! element, or of the whole; `if no source` holds where an object has no field beside its name. `PATH < name` applies
//! another section there.

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

static SECTIONS: LazyLock<BTreeMap<&str, Vec<Row>>> = LazyLock::new(|| sections::read(TABLES, Row::read));

#[derive(Debug)]
struct Row {
    path: Vec<Step>,
    action: Action,
    condition: Option<Condition>,
}

#[derive(Debug)]
enum Step {
    /// A field that is made where it is missing.
    Made(String),
    /// A field below which nothing happens where it is missing.
    Found(String),
    /// Each element of a list.
    Each,
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

impl Row {
    /// Reads a row; the tables are part of the program, so that one that is none is told by the test below.
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
        let mut path: Vec<Step> = path.trim().split('.').flat_map(steps).collect();
        // What leads to something that must be there must be there itself.
        let found = path.iter().rposition(|step| matches!(step, Step::Found(_))).unwrap_or_default();
        for step in &mut path[..found] {
            if let Step::Made(name) = step {
                *step = Step::Found(std::mem::take(name));
            }
        }
        Self { path, action, condition }
    }

    fn apply(&self, object: &mut Value) {
        let last_list = self.path.iter().rposition(|step| matches!(step, Step::Each));
        let (to_elements, rest) = self.path.split_at(last_list.map_or(0, |at| at + 1));
        each(object, to_elements, &mut |element| {
            if self.condition.as_ref().is_none_or(|condition| condition.holds(element)) {
                self.act(element, rest);
            }
        });
    }

    fn act(&self, element: &mut Value, path: &[Step]) {
        let applies = matches!(self.action, Action::Apply(_));
        let Some(place) = place(element, path, applies) else { return };
        match &self.action {
            Action::Apply(section) => apply(section, place),
            Action::Set { value, also_zero } => {
                let zero = place.as_i64() == Some(0) && *also_zero;
                if place.is_null() || *place == "" || zero {
                    *place = value.clone();
                }
            }
        }
    }
}

/// `containers[]`, `livenessProbe?`, `spec`.
fn steps(text: &str) -> Vec<Step> {
    if let Some(name) = text.strip_suffix("[]") {
        return vec![Step::Found(name.to_owned()), Step::Each];
    }
    match text.strip_suffix('?') {
        Some(name) => vec![Step::Found(name.to_owned())],
        None => vec![Step::Made(text.to_owned())],
    }
}

/// Does something with every value that a path leads to.
fn each(value: &mut Value, path: &[Step], act: &mut dyn FnMut(&mut Value)) {
    match path {
        [] => act(value),
        [Step::Each, rest @ ..] => {
            value.as_array_mut().into_iter().flatten().for_each(|item| each(item, rest, act));
        }
        [Step::Found(name) | Step::Made(name), rest @ ..] => {
            if let Some(below) = value.get_mut(name) {
                each(below, rest, act);
            }
        }
    }
}

/// The place that a path without lists leads to, made where it may be; null where nothing is.
fn place<'a>(value: &'a mut Value, path: &[Step], applies: bool) -> Option<&'a mut Value> {
    let [step, rest @ ..] = path else { return Some(value) };
    let fields = value.as_object_mut()?;
    let below = match step {
        Step::Found(name) => fields.get_mut(name)?,
        Step::Made(name) => fields.entry(name.clone()).or_insert(Value::Null),
        Step::Each => return None,
    };
    if below.is_null() && (!rest.is_empty() || applies) {
        *below = Value::Object(Map::new());
    }
    place(below, rest, applies)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::object::sections::known;

    #[test]
    fn every_section_is_a_kind_or_applied_somewhere() {
        let applied = |row: &Row| match row.action {
            Action::Apply(section) => Some(section),
            Action::Set { .. } => None,
        };
        assert_eq!(known::strays(&SECTIONS, applied), [] as [&str; 0]);
    }

    #[test]
    fn every_path_is_one_of_its_kind() {
        for (section, rows) in SECTIONS.iter() {
            for row in rows {
                let step = |step: &Step| match step {
                    Step::Made(name) | Step::Found(name) => format!(".{name}"),
                    Step::Each => "[]".to_owned(),
                };
                let path: String = row.path.iter().map(step).collect();
                assert!(known::has(section, &path), "{section}: {path}");
            }
        }
    }

    #[test]
    fn rows_set_what_is_absent_under_their_condition() {
        let row = |text: &'static str, mut object: Value| {
            Row::read(text).apply(&mut object);
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
