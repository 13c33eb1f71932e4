//! Quantities of resources.

use formats::quantity::{Notation, Quantity};
use webhook::field::{Error, Path, Shown};
use webhook::rejection::Rejection;

use super::field_errors::FieldErrors;
use super::names;

/// Resources that are counted.
const COUNTED: [&str; 9] = [
    "configmaps",
    "persistentvolumeclaims",
    "pods",
    "replicationcontrollers",
    "resourcequotas",
    "secrets",
    "services",
    "services.loadbalancers",
    "services.nodeports",
];

/// Parses and checks an amount of a resource.
///
/// # Errors
/// 400 when it is no quantity.
pub(super) fn read(
    kind: &str,
    resource: &str,
    written: &api::garden::Quantity,
    at: &Path,
) -> Result<FieldErrors, Rejection> {
    Ok(validate(resource, &written.0, &parse(kind, written)?, at))
}

/// Parses a quantity of an object of this kind.
///
/// # Errors
/// 400 when it is invalid.
pub(super) fn parse(kind: &str, written: &api::garden::Quantity) -> Result<Quantity, Rejection> {
    Quantity::parse(&written.0)
        .map_err(|error| Rejection::undecodable(format!("failed to read the {kind}: {error}")))
}

/// A quantity is not negative, and has no fraction if its resource is counted; `text` is the quantity as it was written.
pub(super) fn validate(resource: &str, text: &str, quantity: &Quantity, at: &Path) -> FieldErrors {
    let mut errors: FieldErrors = not_negative(quantity, at).into_iter().collect();
    if (COUNTED.contains(&resource) || is_extended(resource)) && !is_whole(quantity) {
        errors.push(Error::invalid(at, shown(text, quantity), "must be an integer"));
    }
    errors
}

/// A quantity is not negative.
pub(super) fn not_negative(quantity: &Quantity, at: &Path) -> Option<Error> {
    let is_negative = *quantity < Quantity::from_integer(0);
    is_negative
        .then(|| Error::invalid(at, quantity.to_string().as_str(), "must be greater than or equal to 0"))
}

/// Resources of others than Kubernetes: `example.com/gpu`.
fn is_extended(resource: &str) -> bool {
    resource.contains('/')
        && !resource.contains("kubernetes.io/")
        && !resource.starts_with("requests.")
        && names::label_key(&format!("requests.{resource}")).is_empty()
}

/// Whether it is an integer after rounding up to thousandths, as the original rounds.
fn is_whole(quantity: &Quantity) -> bool {
    const MILLI: i128 = 1_000_000;
    quantity.nanos().is_none_or(|nanos| {
        let rounded = nanos.div_euclid(MILLI) + i128::from(nanos.rem_euclid(MILLI) != 0);
        rounded % 1000 == 0
    })
}

/// The struct that the original prints of a quantity that it has printed before.
fn shown(text: &str, quantity: &Quantity) -> Shown {
    dump(text, quantity, |_| quantity.to_string())
}

/// The struct that the original prints otherwise: it knows a quantity's text if that was the shortest.
pub(super) fn unprinted(text: &str, quantity: &Quantity) -> Shown {
    dump(text, quantity, |is_shortest| if is_shortest { text.to_owned() } else { String::new() })
}

/// The struct: the digits as they were written, and the power of ten; `printed` gets whether the text is the shortest.
fn dump(text: &str, quantity: &Quantity, printed: impl Fn(bool) -> String) -> Shown {
    let number =
        text.find(|character: char| character.is_ascii_alphabetic()).map_or(text, |end| &text[..end]);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits = format!("{whole}{fraction}");
    let value: i128 = digits.parse().unwrap_or_default();
    let (format, exponent, factor) = match quantity.notation() {
        Notation::Decimal => ("DecimalSI", decimal_exponent(text), 1),
        Notation::Exponent => ("DecimalExponent", written_exponent(text), 1),
        Notation::Binary => ("BinarySI", 0, binary_factor(text)),
    };
    let scale = exponent - i64::try_from(fraction.len()).unwrap_or_default();
    let positive = digits.trim_start_matches(['-', '+']);
    let is_shortest = match quantity.notation() {
        Notation::Binary => value % 8 != 0,
        _ => scale % 3 == 0 && !positive.ends_with("000") && !positive.starts_with('0'),
    };
    Shown::verbatim(format!(
        "resource.Quantity{{i:resource.int64Amount{{value:{}, scale:{scale}}}, \
         d:resource.infDecAmount{{Dec:(*inf.Dec)(nil)}}, s:\"{}\", Format:\"{format}\"}}",
        value.saturating_mul(factor),
        printed(is_shortest)
    ))
}

/// What a binary suffix means.
fn binary_factor(text: &str) -> i128 {
    let power = text.chars().nth_back(1).and_then(|suffix| "KMGTPE".find(suffix));
    power.and_then(|power| u32::try_from(power).ok()).map_or(1, |power| 1024_i128.saturating_pow(power + 1))
}

/// The power of ten of a suffix.
fn decimal_exponent(text: &str) -> i64 {
    match text.chars().last() {
        Some('n') => -9,
        Some('u') => -6,
        Some('m') => -3,
        Some('k') => 3,
        Some('M') => 6,
        Some('G') => 9,
        Some('T') => 12,
        Some('P') => 15,
        Some('E') => 18,
        _ => 0,
    }
}

fn written_exponent(text: &str) -> i64 {
    text.split_once(['e', 'E']).and_then(|(_, exponent)| exponent.parse().ok()).unwrap_or_default()
}
