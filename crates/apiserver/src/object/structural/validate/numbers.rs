//! Checks the range of numbers, and `multipleOf`.

use serde_json::Number;
use webhook::field::{Error, ErrorKind, Shown};

use super::{invalid, without_field};
use crate::object::go_text::shown_number;
use crate::object::structural::schema::Checks;

/// All errors of a number.
pub(super) fn check(path: &str, number: &Number, checks: &Checks) -> Vec<Error> {
    let value = number.as_f64().unwrap_or_default();
    let mut errors: Vec<Error> = out_of_range(path, number, checks).into_iter().collect();
    errors.extend(checks.multiple_of.as_ref().and_then(|factor| not_multiple(path, number, factor)));
    let mut report = |why: String| errors.push(invalid(path, shown(number), &why));
    let limit = |number: &Number| number.as_f64().unwrap_or_default();
    if let Some((max, exclusive)) = &checks.maximum
        && (value > limit(max) || (*exclusive && value >= limit(max)))
    {
        let max = like(number, max);
        report(format!("should be less than {}{max}", if *exclusive { "" } else { "or equal to " }));
    }
    if let Some((min, exclusive)) = &checks.minimum
        && (value < limit(min) || (*exclusive && value <= limit(min)))
    {
        let min = like(number, min);
        report(format!("should be greater than {}{min}", if *exclusive { "" } else { "or equal to " }));
    }
    errors
}

fn shown(number: &Number) -> Shown {
    Shown::verbatim(shown_number(number))
}

/// A limit as messages about the number show it: kube-apiserver compares integers with integers.
fn like(number: &Number, limit: &Number) -> String {
    let float = limit.as_f64().unwrap_or_default();
    if number.is_f64() { formats::json::display(float) } else { whole(float).to_string() }
}

/// The integer that Go makes of a float.
#[expect(clippy::cast_possible_truncation, reason = "kube-apiserver cuts off the fraction, too")]
pub(super) fn whole(float: f64) -> i64 {
    float as i64
}

/// The error if a number is not a multiple of a factor. kube-apiserver cuts off the fraction of a factor for an integer.
fn not_multiple(path: &str, number: &Number, factor: &Number) -> Option<Error> {
    let float = factor.as_f64()?;
    let why = format!("should be a multiple of {}", like(number, factor));
    let not_positive = |factor: &str| {
        let detail = format!("factor MultipleOf declared for {path} must be positive: {factor}");
        let value = Some(Shown::verbatim(factor));
        Error { kind: ErrorKind::Invalid, field: path.to_owned(), value, detail }
    };
    let Some(integer) = number.as_i64() else {
        if float <= 0.0 {
            return Some(not_positive(&formats::json::display(float)));
        }
        let quotient = if float < 1.0 { 1.0 / float * number.as_f64()? } else { number.as_f64()? / float };
        return (!is_integer(quotient)).then(|| invalid(path, shown(number), &why));
    };
    let factor = whole(float);
    if factor > 0 {
        return (integer % factor != 0).then(|| invalid(path, shown(number), &why));
    }
    Some(not_positive(&factor.to_string()))
}

/// The error if a number does not fit its type and format.
fn out_of_range(path: &str, number: &Number, checks: &Checks) -> Option<Error> {
    let is = |name: &str| checks.types.iter().any(|other| other == name);
    let format = checks.format.as_deref();
    // kube-apiserver reads the text of the number again.
    let text = number.as_i64().map_or_else(
        || number.as_f64().map(|float| float.to_string()).unwrap_or_default(),
        |integer| integer.to_string(),
    );
    let (type_name, fits) = match format {
        Some("int32") if is("integer") => ("integer", text.parse::<i32>().is_ok()),
        _ if is("integer") => ("integer", text.parse::<i64>().is_ok()),
        Some("float") if is("number") => ("number", text.parse::<f32>().is_ok_and(f32::is_finite)),
        _ => return None,
    };
    match format {
        _ if fits => None,
        Some(format) => Some(without_field(format!(
            "Checked value must be of type {type_name} with format {format} in {path}"
        ))),
        // kube-apiserver reports no default format for int-or-string.
        None if checks.types.len() > 1 => None,
        None => Some(without_field(format!(
            "Checked value must be of type {type_name} (default format) in {path}"
        ))),
    }
}

/// Whether a float counts as an integer, as kube-openapi decides: within 2⁵³−1, and almost whole.
pub(super) fn is_integer(float: f64) -> bool {
    const MOST: f64 = 9_007_199_254_740_991.0;
    const EPSILON: f64 = 1e-9;
    let whole = float.trunc();
    let difference = (float - whole).abs();
    float.abs() <= MOST
        && (difference == 0.0 || (whole != 0.0 && difference / (float.abs() + whole.abs()) < EPSILON))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn case_57_a_factor_of_an_integer_has_no_fraction() {
        let error = |number: serde_json::Value, factor: serde_json::Value| {
            let found = not_multiple("spec.x", number.as_number()?, factor.as_number()?);
            found.map(|error| error.detail)
        };
        let positive = "factor MultipleOf declared for spec.x must be positive: 0";
        assert_eq!(error(json!(3), json!(0.5)).as_deref(), Some(positive));
        let multiple = "spec.x in body should be a multiple of 0.5";
        assert_eq!(error(json!(0.25), json!(0.5)).as_deref(), Some(multiple));
        assert_eq!(error(json!(8), json!(3)).as_deref(), Some("spec.x in body should be a multiple of 3"));
        assert_eq!(error(json!(1.5), json!(0)).as_deref(), Some(positive));
        assert_eq!(error(json!(1.5), json!(0.5)), None);
        assert_eq!(error(json!(9), json!(3)), None);
    }

    #[test]
    fn case_57_floats_are_integers_up_to_a_limit() {
        let table = [
            (1e15, true),
            (9_007_199_254_740_991.0, true),
            (9_007_199_254_740_992.0, false),
            (-9_007_199_254_740_992.0, false),
            (1e16, false),
            (1.5, false),
            (1.000_000_000_1, true),
            (0.000_000_000_1, false),
            (f64::NAN, false),
        ];
        for (float, want) in table {
            assert_eq!(is_integer(float), want, "{float}");
        }
    }
}
