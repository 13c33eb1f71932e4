//! Differences between two objects, as the language compares: lists by key, order where it matters, quantities by value.

use std::collections::BTreeSet;

use schema::{Segment, segments};
use serde_json::{Map, Value};

use super::compare::{key_step, present};
use super::scalar::bare;
use super::{ListRule, Path, Rules, Step, equal};

/// One changed leaf, or an added or removed element of a list.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The path.
    pub path: Path,
    /// The value before; `None`: absent.
    pub before: Option<Value>,
    /// The value after; `None`: absent.
    pub after: Option<Value>,
}

/// The changes from one value to another, in the order of paths.
#[must_use]
pub fn changes(before: Option<&Value>, after: Option<&Value>, rules: &Rules) -> Vec<Change> {
    let mut changes = Vec::new();
    collect_changes(&mut changes, &Path::default(), present(before), present(after), rules);
    changes
}

/// Whether two values are equal as the language compares.
#[must_use]
pub fn same(a: Option<&Value>, b: Option<&Value>, rules: &Rules) -> bool {
    changes(a, b, rules).is_empty()
}

/// The changes that no path prefix covers (`[]`: any element). Without prefixes, every change is covered.
#[must_use]
pub fn outside<'a>(only_touches: &[String], changes: &'a [Change]) -> Vec<&'a Change> {
    // An invalid path covers nothing: a typing mistake must not hide changes.
    let prefixes: Vec<Vec<Segment>> = only_touches.iter().filter_map(|path| segments(path).ok()).collect();
    let covered = |change: &&Change| {
        only_touches.is_empty() || prefixes.iter().any(|prefix| covers(prefix, &change.path))
    };
    changes.iter().filter(|change| !covered(change)).collect()
}

/// The paths of elements whose key occurs twice in a keyed list.
#[must_use]
pub fn double_keys(object: &Value, rules: &Rules) -> Vec<Path> {
    let mut duplicates = Vec::new();
    collect_duplicates(&mut duplicates, &Path::default(), object, rules);
    duplicates
}

fn collect_changes(
    changes: &mut Vec<Change>,
    path: &Path,
    before: Option<&Value>,
    after: Option<&Value>,
    rules: &Rules,
) {
    match (before, after) {
        (None, None) => {}
        (Some(Value::Object(a)), Some(Value::Object(b))) => maps(changes, path, a, b, rules),
        (Some(Value::Object(a)), None) if has_any(a) => maps(changes, path, a, &Map::new(), rules),
        (None, Some(Value::Object(b))) if has_any(b) => maps(changes, path, &Map::new(), b, rules),
        (Some(Value::Array(a)), Some(Value::Array(b))) => lists(changes, path, a, b, rules),
        (Some(a), Some(b)) if equal(a, b, rules) => {}
        (before, after) => {
            changes.push(Change { path: path.clone(), before: before.cloned(), after: after.cloned() });
        }
    }
}

/// Whether the map has more than nulls; otherwise the map itself was added or removed.
fn has_any(map: &Map<String, Value>) -> bool {
    map.values().any(|value| !value.is_null())
}

fn maps(
    changes: &mut Vec<Change>,
    path: &Path,
    a: &Map<String, Value>,
    b: &Map<String, Value>,
    rules: &Rules,
) {
    let names: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
    for name in names {
        let (before, after) = (present(a.get(name)), present(b.get(name)));
        // Most fields are equal: skip them before a path and rules are built.
        if before != after {
            collect_changes(
                changes,
                &step(path, Step::Field(name.clone())),
                before,
                after,
                &rules.field(name),
            );
        }
    }
}

fn lists(changes: &mut Vec<Change>, path: &Path, a: &[Value], b: &[Value], rules: &Rules) {
    match rules.list() {
        ListRule::Keyed(keys) => by_key(changes, path, a, b, &keys, rules),
        ListRule::Unordered => {
            if !same_members(a, b, &rules.item()) {
                let whole = |items: &[Value]| Some(Value::Array(items.to_vec()));
                changes.push(Change { path: path.clone(), before: whole(a), after: whole(b) });
            }
        }
        ListRule::Ordered => by_position(changes, path, a, b, rules),
    }
}

fn by_key(changes: &mut Vec<Change>, path: &Path, a: &[Value], b: &[Value], keys: &[String], rules: &Rules) {
    let keyed = |items: &[Value]| -> Option<Vec<Vec<(String, Value)>>> {
        let keys: Option<Vec<_>> = items.iter().map(|item| rules.key_of(keys, item)).collect();
        let steps =
            |keys: &Vec<Vec<(String, Value)>>| keys.iter().map(|key| key_step(key)).collect::<BTreeSet<_>>();
        keys.filter(|keys| steps(keys).len() == keys.len())
    };
    let (Some(a_keys), Some(b_keys)) = (keyed(a), keyed(b)) else {
        // Without keys, or with duplicate keys, elements compare by position.
        return by_position(changes, path, a, b, rules);
    };
    let item = rules.item();
    for (key, before) in a_keys.iter().zip(a) {
        let at = b_keys.iter().position(|other| key_step(other) == key_step(key));
        let after = at.map(|at| &b[at]);
        if after != Some(before) {
            element(changes, &step(path, key_step(key)), Some(before), after, &item);
        }
    }
    for (key, after) in b_keys.iter().zip(b) {
        if !a_keys.iter().any(|other| key_step(other) == key_step(key)) {
            element(changes, &step(path, key_step(key)), None, Some(after), &item);
        }
    }
}

fn by_position(changes: &mut Vec<Change>, path: &Path, a: &[Value], b: &[Value], rules: &Rules) {
    let item = rules.item();
    for index in 0..a.len().max(b.len()) {
        let (before, after) = (a.get(index), b.get(index));
        if before != after {
            element(changes, &step(path, Step::Index(index)), before, after, &item);
        }
    }
}

/// An added or removed element is one change; an element in both lists is compared.
fn element(
    changes: &mut Vec<Change>,
    path: &Path,
    before: Option<&Value>,
    after: Option<&Value>,
    rules: &Rules,
) {
    if before.is_some() && after.is_some() {
        collect_changes(changes, path, before, after, rules);
    } else {
        changes.push(Change { path: path.clone(), before: before.cloned(), after: after.cloned() });
    }
}

fn same_members(a: &[Value], b: &[Value], rules: &Rules) -> bool {
    let mut left: Vec<&Value> = b.iter().collect();
    a.len() == b.len()
        && a.iter().all(|item| {
            let at = left.iter().position(|other| same(Some(item), Some(other), rules));
            at.map(|at| left.swap_remove(at)).is_some()
        })
}

fn collect_duplicates(duplicates: &mut Vec<Path>, path: &Path, value: &Value, rules: &Rules) {
    match value {
        Value::Object(map) => {
            for (name, value) in map {
                collect_duplicates(
                    duplicates,
                    &step(path, Step::Field(name.clone())),
                    value,
                    &rules.field(name),
                );
            }
        }
        Value::Array(items) => {
            let item = rules.item();
            let mut seen = BTreeSet::new();
            for (index, value) in items.iter().enumerate() {
                let key = match rules.list() {
                    ListRule::Keyed(keys) => rules.key_of(&keys, value).map(|key| key_step(&key)),
                    ListRule::Unordered | ListRule::Ordered => None,
                };
                if let Some(key) = &key
                    && !seen.insert(key.clone())
                {
                    duplicates.push(step(path, key.clone()));
                }
                collect_duplicates(duplicates, &step(path, key.unwrap_or(Step::Index(index))), value, &item);
            }
        }
        _ => {}
    }
}

fn covers(prefix: &[Segment], path: &Path) -> bool {
    let fits = |(segment, step): (&Segment, &Step)| match (segment, step) {
        (Segment::Key(name), Step::Field(field)) => name == field,
        (Segment::Key(name), Step::Key(key)) => key.iter().any(|(_, value)| value == name),
        (Segment::Index(wanted), Step::Index(index)) => wanted == index,
        (Segment::Index(wanted), Step::Field(name)) => *name == wanted.to_string(),
        (Segment::Each, _) => true,
        _ => false,
    };
    prefix.len() <= path.0.len() && prefix.iter().zip(&path.0).all(fits)
}

fn step(path: &Path, step: Step) -> Path {
    let mut below = path.clone();
    below.0.push(step);
    below
}

impl Change {
    /// The change as text: `spec.replicas: 1 → 2`.
    #[must_use]
    pub fn words(&self) -> String {
        let shown = |value: &Option<Value>| value.as_ref().map_or_else(|| "absent".to_owned(), bare);
        format!("{}: {} → {}", self.path, shown(&self.before), shown(&self.after))
    }
}
