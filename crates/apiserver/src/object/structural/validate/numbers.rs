//! Checks the range of numbers, and `multipleOf`.

use serde_json::Number;
use webhook::field::{Error, Shown};

use super::{invalid, without_field};
use crate::object::structural::schema::Checks;

/// All errors of a number.
pub(super) fn check(path: &str, number: &Number, checks: &Checks) -> Vec<Error> {
    let value = number.as_f64().unwrap_or_default();
    let mut errors: Vec<Error> = out_of_range(path, number, checks).into_iter().collect();
    let mut report = |why: String| errors.push(invalid(path, Shown::verbatim(number), &why));
    if let Some(factor) = &checks.multiple_of
        && !is_multiple(value, factor)
    {
        report(format!("should be a multiple of {factor}"));
    }
    let limit = |number: &Number| number.as_f64().unwrap_or_default();
    if let Some((max, exclusive)) = &checks.maximum
        && (value > limit(max) || (*exclusive && value >= limit(max)))
    {
        report(format!("should be less than {}{max}", if *exclusive { "" } else { "or equal to " }));
    }
    if let Some((min, exclusive)) = &checks.minimum
        && (value < limit(min) || (*exclusive && value <= limit(min)))
    {
        report(format!("should be greater than {}{min}", if *exclusive { "" } else { "or equal to " }));
    }
    errors
}

/// The error if a number does not fit its type.
fn out_of_range(path: &str, number: &Number, checks: &Checks) -> Option<Error> {
    if !checks.types.iter().any(|name| name == "integer") {
        return None;
    }
    let integer = number.as_i64().or_else(|| number.as_f64().filter(|n| n.fract() == 0.0).map(to_integer));
    match (checks.format.as_deref(), integer) {
        (Some("int32"), Some(integer)) if i32::try_from(integer).is_ok() => None,
        (Some("int32"), _) => {
            Some(without_field(format!("Checked value must be of type integer with format int32 in {path}")))
        }
        (_, Some(_)) => None,
        // kube-apiserver reports no default format for int-or-string.
        (_, None) if checks.types.len() > 1 => None,
        (Some(format), None) => Some(without_field(format!(
            "Checked value must be of type integer with format {format} in {path}"
        ))),
        (None, None) => {
            Some(without_field(format!("Checked value must be of type integer (default format) in {path}")))
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the cast saturates, which is what a range check needs")]
fn to_integer(number: f64) -> i64 {
    number as i64
}

fn is_multiple(value: f64, factor: &Number) -> bool {
    let factor = factor.as_f64().unwrap_or(1.0);
    factor == 0.0 || (value / factor).fract() == 0.0
}
