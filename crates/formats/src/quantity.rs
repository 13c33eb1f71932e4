//! Kubernetes quantities (`500m`, `1.5Gi`, `2e3`): parsing, comparison by value, canonical printing.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// A number with a suffix. Compares by value: `1000m` equals `1`, `1Ki` equals `1024`.
#[derive(Clone, Copy, Debug)]
pub struct Quantity {
    /// Without trailing zeros; 0 has exponent 0.
    mantissa: i128,
    /// Power of ten.
    exponent: i32,
    notation: Notation,
}

/// The family of suffixes that a quantity was written in and is printed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notation {
    /// `n u m`, no suffix, `k M G T P E`.
    Decimal,
    /// `Ki Mi Gi Ti Pi Ei`.
    Binary,
    /// `e3`, `E-6`.
    Exponent,
}

/// Reason a text is not a quantity.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum QuantityError {
    /// It has no digits.
    #[error("{0:?} is not a number with a suffix")]
    Form(String),
    /// The suffix is unknown.
    #[error("{0:?} is not a suffix of a quantity")]
    Suffix(String),
    /// It has more digits than can be represented exactly (38).
    #[error("{0:?} has too many digits")]
    Size(String),
}

const DECIMAL: [(&str, i32); 10] =
    [("n", -9), ("u", -6), ("m", -3), ("", 0), ("k", 3), ("M", 6), ("G", 9), ("T", 12), ("P", 15), ("E", 18)];
const BINARY: [(&str, u32); 6] = [("Ki", 10), ("Mi", 20), ("Gi", 30), ("Ti", 40), ("Pi", 50), ("Ei", 60)];

/// The smallest exponent; finer values are rounded away from zero.
const NANO: i32 = -9;
/// The largest quantity with a binary suffix.
const BINARY_LIMIT: i128 = i64::MAX as i128;

impl Quantity {
    /// Parses a quantity.
    ///
    /// # Errors
    /// If the text has no digits, an unknown suffix, or too many digits.
    pub fn parse(text: &str) -> Result<Self, QuantityError> {
        let (negative, rest) = match text.as_bytes().first() {
            Some(b'-') => (true, &text[1..]),
            Some(b'+') => (false, &text[1..]),
            _ => (false, text),
        };
        let (whole, rest) = digits(rest);
        let (fraction, suffix) = rest.strip_prefix('.').map_or(("", rest), digits);
        if whole.is_empty() && fraction.is_empty() {
            return Err(QuantityError::Form(text.to_owned()));
        }
        let (notation, factor, shift) = parse_suffix(suffix)?;
        let size = || QuantityError::Size(text.to_owned());
        let mut mantissa: i128 = 0;
        for digit in whole.bytes().chain(fraction.bytes()) {
            mantissa = mantissa
                .checked_mul(10)
                .and_then(|mantissa| mantissa.checked_add(i128::from(digit - b'0')))
                .ok_or_else(size)?;
        }
        mantissa = mantissa.checked_mul(factor).ok_or_else(size)?;
        let places = i32::try_from(fraction.len()).map_err(|_| size())?;
        let exponent = shift.checked_sub(places).ok_or_else(size)?;
        let parsed = Self { mantissa, exponent, notation }.normalize().round_up().cap().choose_notation();
        Ok(if negative { Self { mantissa: -parsed.mantissa, ..parsed } } else { parsed })
    }

    /// The quantity of an integer.
    #[must_use]
    pub fn from_integer(value: i64) -> Self {
        Self { mantissa: value.into(), exponent: 0, notation: Notation::Decimal }.normalize()
    }

    /// Whether it is 0.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        self.mantissa == 0
    }

    /// The family of suffixes that it prints with.
    #[must_use]
    pub fn notation(&self) -> Notation {
        self.notation
    }

    /// The value as an integer number of 10⁻⁹; `None` if it does not fit.
    #[must_use]
    pub fn nanos(&self) -> Option<i128> {
        let power = u32::try_from(self.exponent.checked_sub(NANO)?).ok()?;
        self.mantissa.checked_mul(10_i128.checked_pow(power)?)
    }

    /// The sum; it prints with the suffixes of the first of the two that is not 0. `None` if it has too many digits.
    #[must_use]
    pub fn checked_add(&self, other: &Self) -> Option<Self> {
        let exponent = self.exponent.min(other.exponent);
        let mantissa = self.scaled(exponent)?.checked_add(other.scaled(exponent)?)?;
        let notation = if self.is_zero() { other.notation } else { self.notation };
        Some(Self { mantissa, exponent, notation }.normalize())
    }

    /// The mantissa for a lower power of ten.
    fn scaled(&self, exponent: i32) -> Option<i128> {
        let power = u32::try_from(self.exponent.checked_sub(exponent)?).ok()?;
        self.mantissa.checked_mul(10_i128.checked_pow(power)?)
    }

    fn normalize(mut self) -> Self {
        while self.mantissa != 0 && self.mantissa % 10 == 0 {
            self.mantissa /= 10;
            self.exponent += 1;
        }
        if self.mantissa == 0 { Self { exponent: 0, ..self } } else { self }
    }

    fn round_up(mut self) -> Self {
        while self.exponent < NANO {
            let rest = self.mantissa % 10;
            self.mantissa = self.mantissa / 10 + i128::from(rest != 0);
            self.exponent += 1;
        }
        self.normalize()
    }

    fn cap(self) -> Self {
        let limit = Self { mantissa: BINARY_LIMIT, exponent: 0, notation: self.notation };
        if self.notation == Notation::Binary && self > limit { limit } else { self }
    }

    /// Makes a binary quantity below one decimal.
    fn choose_notation(self) -> Self {
        let one = Self { mantissa: 1, exponent: 0, notation: self.notation };
        let is_fraction = self.notation == Notation::Binary && self.mantissa != 0 && self < one;
        if is_fraction { Self { notation: Notation::Decimal, ..self } } else { self }
    }

    fn integer(&self) -> Option<i128> {
        let power = u32::try_from(self.exponent).ok()?;
        self.mantissa.checked_mul(10_i128.checked_pow(power)?)
    }
}

impl FromStr for Quantity {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parse(text)
    }
}

impl PartialEq for Quantity {
    fn eq(&self, other: &Self) -> bool {
        self.mantissa == other.mantissa && self.exponent == other.exponent
    }
}

impl Eq for Quantity {}

impl PartialOrd for Quantity {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Quantity {
    fn cmp(&self, other: &Self) -> Ordering {
        let signs = self.mantissa.signum().cmp(&other.mantissa.signum());
        if signs != Ordering::Equal || self.mantissa == 0 {
            return signs;
        }
        let (a, b) = (magnitude(self), magnitude(other));
        let size = a.1.cmp(&b.1).then_with(|| a.0.cmp(&b.0));
        if self.mantissa > 0 { size } else { size.reverse() }
    }
}

impl fmt::Display for Quantity {
    /// The canonical form: no fraction, the largest suffix that keeps the value exact.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.mantissa == 0 {
            return f.write_str("0");
        }
        if self.notation == Notation::Binary
            && let Some(mut whole) = self.integer()
            && whole.abs() >= 1024
        {
            let mut suffix = "";
            for (name, _) in BINARY {
                if whole % 1024 != 0 {
                    break;
                }
                (whole, suffix) = (whole / 1024, name);
            }
            return write!(f, "{whole}{suffix}");
        }
        let padding = self.exponent.rem_euclid(3);
        let (number, exponent) =
            (self.mantissa * [1, 10, 100][padding.unsigned_abs() as usize], self.exponent - padding);
        let named = DECIMAL.iter().find(|(_, power)| *power == exponent);
        match named {
            _ if exponent == 0 => write!(f, "{number}"),
            Some((suffix, _)) if self.notation != Notation::Exponent => write!(f, "{number}{suffix}"),
            _ => write!(f, "{number}e{exponent}"),
        }
    }
}

fn digits(text: &str) -> (&str, &str) {
    text.split_at(text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len()))
}

/// Notation, factor and power of ten of a suffix.
fn parse_suffix(suffix: &str) -> Result<(Notation, i128, i32), QuantityError> {
    if let Some((_, power)) = DECIMAL.iter().find(|(name, _)| *name == suffix) {
        return Ok((Notation::Decimal, 1, *power));
    }
    if let Some((_, power)) = BINARY.iter().find(|(name, _)| *name == suffix) {
        return Ok((Notation::Binary, 1 << power, 0));
    }
    let unknown = || QuantityError::Suffix(suffix.to_owned());
    let power = suffix.strip_prefix(['e', 'E']).ok_or_else(unknown)?;
    let power: i32 = power.parse().map_err(|_| unknown())?;
    Ok((Notation::Exponent, 1, power))
}

/// The digits of the mantissa, and how many of them are before the decimal point. Quantities order by the number, then
/// by the digits.
fn magnitude(quantity: &Quantity) -> (String, i64) {
    let digits = quantity.mantissa.unsigned_abs().to_string();
    let places = i64::from(quantity.exponent) + i64::try_from(digits.len()).expect("at most 39 digits");
    (digits, places)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn canonical(text: &str) -> String {
        Quantity::parse(text).map_or_else(|error| format!("error: {error}"), |quantity| quantity.to_string())
    }

    #[test]
    fn the_canonical_form_is_the_one_kubernetes_prints() {
        let table = [
            ("0", "0"),
            ("0n", "0"),
            ("-0", "0"),
            ("1", "1"),
            ("+1", "1"),
            ("-1", "-1"),
            ("1.5", "1500m"),
            ("1.0", "1"),
            ("100m", "100m"),
            ("1000m", "1"),
            ("0.1", "100m"),
            (".5", "500m"),
            ("1.", "1"),
            ("1000", "1k"),
            ("1500", "1500"),
            ("1024", "1024"),
            ("10000000", "10M"),
            ("1Ki", "1Ki"),
            ("1024Ki", "1Mi"),
            ("1536Mi", "1536Mi"),
            ("1.5Gi", "1536Mi"),
            ("0.5Ki", "512"),
            ("1.3Gi", "1395864371200m"),
            ("0.0005Ki", "512m"),
            ("1e3", "1e3"),
            ("1E3", "1e3"),
            ("12e-1", "1200e-3"),
            ("1e0", "1"),
            ("1E", "1E"),
            ("1u", "1u"),
            ("1n", "1n"),
            ("0.1n", "1n"),
            ("-0.1n", "-1n"),
            ("1.0000000001", "1000000001n"),
            ("16Ei", "9223372036854775807"),
            ("1000E", "1e21"),
            ("100k", "100k"),
            ("-1.5Gi", "-1536Mi"),
            ("2e30", "2e30"),
        ];
        for (text, wanted) in table {
            assert_eq!(canonical(text), wanted, "{text}");
        }
    }

    #[test]
    fn a_sum_prints_as_its_first_summand_that_is_not_0() {
        let table = [
            ("0", "1Gi", "1Gi"),
            ("0", "100m", "100m"),
            ("80m", "80m", "160m"),
            ("1Gi", "1G", "2073741824"),
            ("1G", "1Gi", "2073741824"),
            ("1n", "1", "1000000001n"),
            ("1", "-1", "0"),
            ("512Mi", "512Mi", "1Gi"),
        ];
        for (one, other, wanted) in table {
            let parse = |text| Quantity::parse(text).expect("a quantity");
            let sum = parse(one).checked_add(&parse(other)).map(|sum| sum.to_string());
            assert_eq!(sum.as_deref(), Some(wanted), "{one} + {other}");
        }
        let large = Quantity::parse(&"9".repeat(38)).expect("a quantity");
        assert_eq!(large.checked_add(&large), None);
    }

    #[test]
    fn texts_that_are_no_quantity_have_a_reason() {
        let form = |text: &str| Err(QuantityError::Form(text.to_owned()));
        let suffix = |text: &str| Err(QuantityError::Suffix(text.to_owned()));
        assert_eq!(Quantity::parse(""), form(""));
        assert_eq!(Quantity::parse("."), form("."));
        assert_eq!(Quantity::parse("-"), form("-"));
        assert_eq!(Quantity::parse("Gi"), form("Gi"));
        assert_eq!(Quantity::parse("1gi"), suffix("gi"));
        assert_eq!(Quantity::parse("1K"), suffix("K"));
        assert_eq!(Quantity::parse("1 Gi"), suffix(" Gi"));
        assert_eq!(Quantity::parse("1e"), suffix("e"));
        assert_eq!(Quantity::parse("1e1.5"), suffix("e1.5"));
        assert_eq!(Quantity::parse("1.2.3"), suffix(".3"));
        let long = "9".repeat(40);
        assert_eq!(Quantity::parse(&long), Err(QuantityError::Size(long.clone())));
    }

    #[test]
    fn quantities_order_by_value() {
        let mut texts = ["1Gi", "1G", "-1", "0", "1n", "999m", "1", "1e30", "1001m", "-1k", "1Ki", "1k"];
        texts.sort_by_key(|text| Quantity::parse(text).expect("a quantity"));
        assert_eq!(texts, ["-1k", "-1", "0", "1n", "999m", "1", "1001m", "1k", "1Ki", "1G", "1Gi", "1e30"]);
    }

    proptest! {
        #[test]
        fn printing_keeps_the_value(mantissa in -1_000_000_000_i64..1_000_000_000, suffix in prop::sample::select(
            vec!["n", "u", "m", "", "k", "M", "G", "Ki", "Mi", "Gi", "e3", "e-3"])) {
            let quantity = Quantity::parse(&format!("{mantissa}{suffix}")).expect("a quantity");
            let printed = Quantity::parse(&quantity.to_string()).expect("its printing is a quantity");
            prop_assert_eq!(quantity, printed);
            prop_assert_eq!(quantity.to_string(), printed.to_string());
        }

        #[test]
        fn order_agrees_with_nanos(a in any::<i32>(), b in any::<i32>(), x in 0_usize..10, y in 0_usize..10) {
            let one = Quantity::parse(&format!("{a}{}", DECIMAL[x].0)).expect("a quantity");
            let other = Quantity::parse(&format!("{b}{}", DECIMAL[y].0)).expect("a quantity");
            prop_assert_eq!(one.cmp(&other), one.nanos().cmp(&other.nanos()));
        }

        #[test]
        fn no_text_causes_a_panic(text in "[-+]?[0-9.]{0,45}[a-zA-Z]{0,3}[-+]?[0-9]{0,12}") {
            let _ = Quantity::parse(&text).map(|quantity| quantity.to_string());
        }
    }
}
