//! Compares a live object with the object to write.

use serde_json::{Map, Number, Value};

/// Which differences are ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strictness {
    /// Different notations of equal numbers.
    Values,
    /// Also null and empty lists for absent fields: the kind has a Go type that cannot distinguish them.
    Typed,
}

/// Whether writing `merged` over `live` would change nothing.
#[must_use]
pub fn is_unchanged(live: &Value, merged: &Value, strictness: Strictness) -> bool {
    match (live, merged) {
        (Value::Object(live), Value::Object(merged)) => same_fields(live, merged, strictness),
        (Value::Array(live), Value::Array(merged)) => {
            live.len() == merged.len()
                && live.iter().zip(merged).all(|(live, merged)| is_unchanged(live, merged, strictness))
        }
        (Value::Number(live), Value::Number(merged)) => same_number(live, merged),
        _ => {
            live == merged
                || strictness == Strictness::Typed
                    && is_null_or_empty_list(live)
                    && is_null_or_empty_list(merged)
        }
    }
}

fn same_fields(live: &Map<String, Value>, merged: &Map<String, Value>, strictness: Strictness) -> bool {
    let same = |(key, live): (&String, &Value)| match merged.get(key) {
        Some(merged) => is_unchanged(live, merged, strictness),
        None => strictness == Strictness::Typed && is_null_or_empty_list(live),
    };
    let known = |(key, merged): (&String, &Value)| {
        live.contains_key(key) || strictness == Strictness::Typed && is_null_or_empty_list(merged)
    };
    live.iter().all(same) && merged.iter().all(known)
}

/// Compares integers exactly, all other numbers as floats: a manifest's `1.0` is the API server's `1`.
fn same_number(one: &Number, other: &Number) -> bool {
    one == other || (one.is_f64() || other.is_f64()) && one.as_f64() == other.as_f64()
}

fn is_null_or_empty_list(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    /// Live, merged, whether they are equal, and whether they are equal for a typed kind.
    #[rstest]
    #[case::same(json!({"a": [1, "x", null]}), json!({"a": [1, "x", null]}), true, true)]
    #[case::numbers(json!({"a": 1, "b": 0.5}), json!({"a": 1.0, "b": 0.5}), true, true)]
    #[case::big_numbers(json!(9_007_199_254_740_993_i64), json!(9_007_199_254_740_992_i64), false, false)]
    #[case::other_number(json!(1), json!(2), false, false)]
    #[case::number_and_text(json!(1), json!("1"), false, false)]
    #[case::more_fields(json!({"a": 1}), json!({"a": 1, "b": 2}), false, false)]
    #[case::fewer_fields(json!({"a": 1, "b": 2}), json!({"a": 1}), false, false)]
    #[case::other_fields(json!({"a": 1, "b": 2}), json!({"a": 1, "c": 2}), false, false)]
    #[case::longer_list(json!([1]), json!([1, 2]), false, false)]
    #[case::other_order(json!([1, 2]), json!([2, 1]), false, false)]
    #[case::null_wanted(json!({}), json!({"a": null}), false, true)]
    #[case::null_there(json!({"a": null}), json!({}), false, true)]
    #[case::empty_list_wanted(json!({}), json!({"a": []}), false, true)]
    #[case::empty_list_there(json!({"a": []}), json!({"a": null}), false, true)]
    #[case::nulls_that_cross(json!({"a": null}), json!({"b": null}), false, true)]
    #[case::empty_map_wanted(json!({}), json!({"a": {}}), false, false)]
    #[case::empty_text_wanted(json!({}), json!({"a": ""}), false, false)]
    #[case::list_and_map(json!([]), json!({}), false, false)]
    #[case::deep(json!({"a": [{"b": null}]}), json!({"a": [{}]}), false, true)]
    fn differences_are_found(
        #[case] live: Value,
        #[case] merged: Value,
        #[case] same: bool,
        #[case] typed: bool,
    ) {
        assert_eq!(is_unchanged(&live, &merged, Strictness::Values), same);
        assert_eq!(is_unchanged(&live, &merged, Strictness::Typed), typed);
        assert_eq!(is_unchanged(&merged, &live, Strictness::Values), same);
        assert_eq!(is_unchanged(&merged, &live, Strictness::Typed), typed);
    }
}
