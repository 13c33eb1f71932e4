//! Lists: elements by their key, command lines by flag, everything else by alignment.

use serde_json::Value;
use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::{EditKind, Edits, flags, written};

/// Fields that identify the elements of lists, as Kubernetes' types use them; the first that all elements have and that no two
/// share.
const KEYS: [&str; 10] =
    ["name", "mountPath", "path", "key", "containerPort", "port", "ip", "type", "topologyKey", "id"];

pub(super) fn collect(edits: &mut Edits, a: &[Value], b: &[Value]) {
    let is_word = |value: &Value| !value.is_object() && !value.is_array();
    if a.iter().chain(b).all(is_word) {
        let words = |list: &[Value]| list.iter().map(written).collect::<Vec<String>>();
        let (a, b) = (words(a), words(b));
        return if flags::is_command_line(&a) || flags::is_command_line(&b) {
            flags::collect(edits, &a, &b);
        } else {
            sequence(edits, &a, &b);
        };
    }
    let Some(key) = KEYS.into_iter().find(|key| identifies(key, a) && identifies(key, b)) else {
        let texts = |list: &[Value]| list.iter().map(ToString::to_string).collect::<Vec<String>>();
        return sequence(edits, &texts(a), &texts(b));
    };
    let find = |list: &[Value], value: &Value| list.iter().find(|other| other[key] == value[key]).cloned();
    for before in a {
        let place = format!("{key}={}", written(&before[key]));
        edits.named(Some(&place), before, &find(b, before).unwrap_or_default());
    }
    for after in b.iter().filter(|after| find(a, after).is_none()) {
        edits.named(Some(&format!("{key}={}", written(&after[key]))), &Value::Null, after);
    }
}

/// Whether every element has the field, each with another value.
fn identifies(key: &str, list: &[Value]) -> bool {
    let values: Vec<&Value> = list.iter().filter_map(|value| value.get(key)).collect();
    values.len() == list.len() && values.iter().enumerate().all(|(at, value)| !values[..at].contains(value))
}

/// The differences of two sequences, members that both have aligned.
pub(super) fn sequence(edits: &mut Edits, a: &[String], b: &[String]) {
    if a == b {
        return;
    }
    let sorted = |list: &[String]| {
        let mut list = list.to_vec();
        list.sort();
        list
    };
    if sorted(a) == sorted(b) {
        return edits.add(None, EditKind::Reordered);
    }
    for op in capture_diff_slices(Algorithm::Myers, a, b) {
        let (before, after) = (&a[op.old_range()], &b[op.new_range()]);
        match op {
            DiffOp::Equal { .. } => {}
            DiffOp::Replace { old_len, new_len, .. } if old_len == new_len => {
                for (before, after) in before.iter().zip(after) {
                    edits.add(None, EditKind::Changed { before: before.clone(), after: after.clone() });
                }
            }
            DiffOp::Delete { .. } | DiffOp::Insert { .. } | DiffOp::Replace { .. } => {
                for member in before {
                    edits.add(None, EditKind::Gone(member.clone()));
                }
                for member in after {
                    edits.add(None, added(member, a, b));
                }
            }
        }
    }
}

/// A member that the second has more often than the first.
pub(super) fn added(member: &String, a: &[String], b: &[String]) -> EditKind {
    let times = |list: &[String]| list.iter().filter(|other| *other == member).count();
    if times(a) > 0 && times(b) > 1 && !member.trim().is_empty() {
        return EditKind::Repeated { member: member.clone(), times: times(b) };
    }
    EditKind::Added(member.clone())
}
