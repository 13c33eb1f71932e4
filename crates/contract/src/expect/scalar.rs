//! Compares scalars by value: numbers, quantities, durations, times; ranges of them, and shifted values.

use std::cmp::Ordering;

use formats::duration::GoDuration;
use formats::quantity::Quantity;
use formats::time;
use schema::Shape;
use serde_json::{Number, Value};

use super::Rules;

/// How a value is converted to an integer, in units of 10⁻⁹ (for times and durations nanoseconds).
#[derive(Clone, Copy)]
enum Measure {
    Time,
    Duration,
    Quantity,
}

/// Whether two scalars are equal: numbers compare by value, and so do quantities, int-or-strings,
/// durations and times if the type says so. Maps and lists must be identical.
#[must_use]
pub fn equal(a: &Value, b: &Value, rules: &Rules) -> bool {
    if a == b {
        return true;
    }
    let measure = match (a, b, rules.ty().shape()) {
        (Value::Number(a), Value::Number(b), _) => return same_number(a, b),
        (_, _, Shape::Quantity | Shape::IntOrString) => return both(quantity(a), quantity(b)),
        (_, _, Shape::Duration) => Measure::Duration,
        (_, _, Shape::Time | Shape::MicroTime) => Measure::Time,
        _ => return false,
    };
    both(measure.of(a), measure.of(b))
}

/// Whether the value is in the range, both ends included. All three must have the same measure: the type's if it
/// has one, else the first of time, duration and quantity (numbers are quantities) that fits all.
pub(super) fn between(value: &Value, low: &Value, high: &Value, rules: &Rules) -> bool {
    let all = |measure: &Measure| Some((measure.of(low)?, measure.of(high)?, measure.of(value)?));
    let range = measures(rules.ty().shape()).iter().find_map(all);
    range.is_some_and(|(low, high, value)| low <= value && value <= high)
}

/// The value increased by `by` (seconds for times and durations), in the same notation; `None` if it cannot be
/// measured.
pub(super) fn shifted(value: &Value, by: i64, rules: &Rules) -> Option<Value> {
    if let Value::Number(number) = value {
        let whole = number.as_i64().and_then(|number| number.checked_add(by)).map(Value::from);
        return whole.or_else(|| number.as_f64().map(|number| beyond(number, by)));
    }
    let measures = measures(rules.ty().shape()).iter();
    let (measure, nanos) = measures.clone().find_map(|measure| Some((measure, measure.of(value)?)))?;
    measure.format(nanos.checked_add(i128::from(by) * 1_000_000_000)?).map(Value::from)
}

/// A scalar as in a path: strings without quotes.
pub(crate) fn bare(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn same_number(a: &Number, b: &Number) -> bool {
    match (a.as_f64(), b.as_f64()) {
        // Two integers were compared already; as floats, different large ones could be equal.
        _ if !a.is_f64() && !b.is_f64() => false,
        (Some(a), Some(b)) => a.partial_cmp(&b) == Some(Ordering::Equal),
        _ => false,
    }
}

fn both<T: PartialEq>(a: Option<T>, b: Option<T>) -> bool {
    a.zip(b).is_some_and(|(a, b)| a == b)
}

/// A quantity, also if written as a number.
fn quantity(value: &Value) -> Option<Quantity> {
    match value {
        Value::String(text) => Quantity::parse(text).ok(),
        Value::Number(number) => Quantity::parse(&number.to_string()).ok(),
        _ => None,
    }
}

fn measures(shape: Shape) -> &'static [Measure] {
    match shape {
        Shape::Quantity | Shape::IntOrString | Shape::Integer(_) | Shape::Number => &[Measure::Quantity],
        Shape::Duration => &[Measure::Duration],
        Shape::Time | Shape::MicroTime => &[Measure::Time],
        _ => &[Measure::Time, Measure::Duration, Measure::Quantity],
    }
}

/// A greater or smaller number, also if the number is too large to change by `by`.
fn beyond(number: f64, by: i64) -> Value {
    let distance = number.abs() + 1.0;
    Value::from(if by < 0 { number - distance } else { number + distance })
}

impl Measure {
    fn of(self, value: &Value) -> Option<i128> {
        match self {
            Self::Time => time::nanos(value.as_str()?),
            Self::Duration => GoDuration::parse(value.as_str()?).ok().map(|duration| duration.nanos().into()),
            Self::Quantity => quantity(value).and_then(|quantity| quantity.nanos()),
        }
    }

    fn format(self, nanos: i128) -> Option<String> {
        match self {
            Self::Time => time::to_string(nanos),
            Self::Duration => {
                i64::try_from(nanos).ok().map(|nanos| GoDuration::from_nanos(nanos).to_string())
            }
            Self::Quantity => Quantity::parse(&format!("{nanos}n")).ok().map(|quantity| quantity.to_string()),
        }
    }
}
