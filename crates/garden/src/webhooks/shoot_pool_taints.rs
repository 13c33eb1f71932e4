//! Labels, annotations and taints of a pool's nodes.

use std::collections::BTreeSet;

use api::garden::reference::Taint;
use api::garden::shoot::worker::Worker;
use api::gardener::TAINT_CRITICAL_COMPONENTS_NOT_READY;
use webhook::field::{Error, Path, Shown, quote};

use super::field_errors::{FieldErrors, each_invalid};
use super::{annotations, labels, names};

const EFFECTS: [&str; 3] = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

/// Labels, annotations and taints: GDN-SPT-001 to -005.
pub(super) fn validate(pool: &Worker, at: &Path) -> FieldErrors {
    let mut errors = labels::validate(&pool.labels, &at.child("labels"));
    errors.extend(annotations::validate(&pool.annotations, &at.child("annotations")));
    errors.extend(taints(&pool.taints, &at.child("taints")));
    errors
}

/// The key of a taint, which must not be the reserved one.
pub(super) fn key(key: &str, at: &Path) -> FieldErrors {
    let mut errors = each_invalid(at, key, &names::label_key(key));
    if key == TAINT_CRITICAL_COMPONENTS_NOT_READY {
        errors.push(Error::forbidden(at, "taint key is reserved by gardener"));
    }
    errors
}

fn taints(taints: &[Taint], at: &Path) -> FieldErrors {
    let (mut errors, mut seen) = (FieldErrors::new(), BTreeSet::new());
    for (index, taint) in taints.iter().enumerate() {
        let at = at.index(index);
        errors.extend(key(&taint.key, &at.child("key")));
        let value = taint.value.as_deref().unwrap_or_default();
        let why = names::label_value(value);
        if !why.is_empty() {
            errors.push(Error::invalid(&at.child("value"), value, &why.join(";")));
        }
        let effect = taint.effect.as_str();
        if effect.is_empty() {
            errors.push(Error::required(&at.child("effect"), ""));
        } else if !EFFECTS.contains(&effect) {
            errors.push(Error::not_supported(&at.child("effect"), effect, &EFFECTS));
        }
        if !seen.insert((effect, &taint.key)) {
            let detail = "taints must be unique by key and effect pair".to_owned();
            errors.push(Error { detail, ..Error::duplicate(&at, go_syntax(taint)) });
        }
    }
    errors
}

fn go_syntax(taint: &Taint) -> Shown {
    let [key, value, effect] =
        [&taint.key, taint.value.as_ref().unwrap_or(&String::new()), &taint.effect].map(|text| quote(text));
    Shown::verbatim(format_args!("v1.Taint{{Key:{key}, Value:{value}, Effect:{effect}, TimeAdded:<nil>}}"))
}
