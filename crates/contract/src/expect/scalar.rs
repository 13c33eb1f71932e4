//! Scalars compared by value: numbers, quantities, durations, times.

use formats::duration::GoDuration;
use formats::quantity::Quantity;
use formats::time;
use schema::Shape;
use serde_json::Value;

use super::Rules;

/// Whether two scalars (or whole values without lists by key) mean the same at this place.
#[must_use]
pub fn equal(a: &Value, b: &Value, rules: &Rules) -> bool {
    a == b || by_shape(a, b, rules.ty().shape()) || number(a).zip(number(b)).is_some_and(|(a, b)| a == b)
}

fn by_shape(a: &Value, b: &Value, shape: Shape) -> bool {
    let both = |same: Option<bool>| same.unwrap_or(false);
    match shape {
        Shape::Quantity => both(quantity(a).zip(quantity(b)).map(|(a, b)| a == b)),
        Shape::Duration => both(duration(a).zip(duration(b)).map(|(a, b)| a == b)),
        Shape::Time | Shape::MicroTime => both(point(a).zip(point(b)).map(|(a, b)| a == b)),
        _ => false,
    }
}

/// Whether a scalar lies between two others, both included: as numbers, else as times, durations or quantities.
pub(super) fn between(value: &Value, low: &Value, high: &Value) -> Option<bool> {
    fn within<T: PartialOrd>(read: impl Fn(&Value) -> Option<T>, values: [&Value; 3]) -> Option<bool> {
        let [value, low, high] = values.map(read);
        let (value, low, high) = (value?, low?, high?);
        Some(low <= value && value <= high)
    }
    let values = [value, low, high];
    within(number, values)
        .or_else(|| within(point, values))
        .or_else(|| within(duration, values))
        .or_else(|| within(quantity, values))
}

/// A number.
pub(super) fn number(value: &Value) -> Option<f64> {
    value.as_f64()
}

/// A quantity, also where it stands as a number.
pub(super) fn quantity(value: &Value) -> Option<Quantity> {
    match value {
        Value::String(text) => Quantity::parse(text).ok(),
        Value::Number(number) => Quantity::parse(&number.to_string()).ok(),
        _ => None,
    }
}

/// A Go duration.
pub(super) fn duration(value: &Value) -> Option<GoDuration> {
    GoDuration::parse(value.as_str()?).ok()
}

/// A point in time, in nanoseconds.
pub(super) fn point(value: &Value) -> Option<i128> {
    time::nanos(value.as_str()?)
}

/// A scalar as it stands in a path: texts bare.
pub(crate) fn bare(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
