//! Whether a live object is already what is to be written.

use serde_json::{Map, Number, Value};

/// What counts as no difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strictness {
    /// Numbers of equal value.
    Values,
    /// That, and null and the empty list for an absent field: the kind has a type, which cannot tell them apart.
    Typed,
}

/// Whether writing `merged` over `live` says nothing new.
#[must_use]
pub fn is_unchanged(live: &Value, merged: &Value, strictness: Strictness) -> bool {
    match (live, merged) {
        (Value::Object(live), Value::Object(merged)) => same_fields(live, merged, strictness),
        (Value::Array(live), Value::Array(merged)) => {
            live.len() == merged.len()
                && live.iter().zip(merged).all(|(live, merged)| is_unchanged(live, merged, strictness))
        }
        (Value::Number(live), Value::Number(merged)) => same_number(live, merged),
        _ => live == merged || strictness == Strictness::Typed && is_void(live) && is_void(merged),
    }
}

fn same_fields(live: &Map<String, Value>, merged: &Map<String, Value>, strictness: Strictness) -> bool {
    let same = |(key, live): (&String, &Value)| match merged.get(key) {
        Some(merged) => is_unchanged(live, merged, strictness),
        None => strictness == Strictness::Typed && is_void(live),
    };
    let known = |(key, merged): (&String, &Value)| {
        live.contains_key(key) || strictness == Strictness::Typed && is_void(merged)
    };
    live.iter().all(same) && merged.iter().all(known)
}

/// Whole numbers as such, all others as floats: a manifest's `1.0` is the API server's `1`.
fn same_number(one: &Number, other: &Number) -> bool {
    one == other || (one.is_f64() || other.is_f64()) && one.as_f64() == other.as_f64()
}

fn is_void(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        _ => false,
    }
}
