//! Numbers as words of order.

/// `1st`, `2nd`, `11th`.
pub(super) fn ordinal(number: usize) -> String {
    let end = match (number % 100, number % 10) {
        (11..=13, _) => "th",
        (_, 1) => "st",
        (_, 2) => "nd",
        (_, 3) => "rd",
        _ => "th",
    };
    format!("{number}{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_follows_the_last_digits() {
        assert_eq!([1, 2, 3, 4, 12, 22, 113].map(ordinal).join(" "), "1st 2nd 3rd 4th 12th 22nd 113th");
    }
}
