//! Parses whole numbers in a range.

use std::ops::RangeInclusive;

/// A parser of numbers in `range` for clap; without an end if that is [`u64::MAX`]. Its error names the numbers that are
/// allowed, unlike clap's own, which is that of Rust's standard library.
pub(crate) fn number<T: TryFrom<u64>>(
    range: RangeInclusive<u64>,
) -> impl Fn(&str) -> Result<T, String> + Clone {
    move |text: &str| {
        let number = text.parse().ok().filter(|number| range.contains(number));
        number.and_then(|number| T::try_from(number).ok()).ok_or_else(|| match (range.start(), range.end()) {
            (from, &u64::MAX) => format!("is not a whole number from {from} on"),
            (from, to) => format!("is not a whole number from {from} to {to}"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_outside_the_range_is_refused_with_the_range() {
        let parallel = number::<u16>(1..=64);
        assert_eq!((parallel("1"), parallel("64")), (Ok(1), Ok(64)));
        for text in ["0", "65", "-1", "1.5", "abc", "", "99999999999999999999"] {
            assert_eq!(parallel(text), Err("is not a whole number from 1 to 64".to_owned()), "{text}");
        }
        let seed = number::<u64>(0..=u64::MAX);
        assert_eq!(seed("18446744073709551615"), Ok(u64::MAX));
        assert_eq!(seed("x"), Err("is not a whole number from 0 on".to_owned()));
    }
}
