//! Numbers with a check digit.

/// An ISBN of ten digits; blanks and hyphens do not count.
pub(super) fn is_isbn10(text: &str) -> bool {
    let text = without_separators(text);
    let Some((digits, last)) = text.split_at_checked(9) else { return false };
    let check = match last {
        "X" => Some(10),
        last if last.len() == 1 => last.parse::<u32>().ok(),
        _ => None,
    };
    let weighted = |(index, digit): (u32, u32)| (index + 1) * digit;
    match (values(digits), check) {
        (Some(digits), Some(check)) => {
            ((0..).zip(digits).map(weighted).sum::<u32>() + 10 * check).is_multiple_of(11)
        }
        _ => false,
    }
}

/// An ISBN of thirteen digits.
pub(super) fn is_isbn13(text: &str) -> bool {
    let text = without_separators(text);
    let Some(digits) = values(&text).filter(|digits| digits.len() == 13) else { return false };
    let sum: u32 =
        digits[..12].iter().zip([1_u32, 3].into_iter().cycle()).map(|(digit, factor)| digit * factor).sum();
    digits[12] == (10 - sum % 10) % 10
}

/// The number of a credit card; everything but digits does not count.
pub(super) fn is_credit_card(text: &str) -> bool {
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    let Some(values) = values(&digits) else { return false };
    let prefix =
        |length: usize| digits.get(..length).and_then(|start| start.parse::<u32>().ok()).unwrap_or_default();
    let is_issued = match digits.len() {
        13 => prefix(1) == 4,
        14 => matches!(prefix(3), 300..=305 | 360..=369 | 380..=389),
        15 => matches!(prefix(2), 34 | 37) || matches!(prefix(4), 2131 | 1800),
        16 => prefix(1) == 4 || matches!(prefix(2), 51..=55 | 35) || matches!(prefix(4), 6011 | 6500..=6599),
        _ => false,
    };
    let doubled = |(index, digit): (usize, &u32)| {
        let value = if index % 2 == 1 { digit * 2 } else { *digit };
        value / 10 + value % 10
    };
    is_issued && values.iter().rev().enumerate().map(doubled).sum::<u32>().is_multiple_of(10)
}

fn without_separators(text: &str) -> String {
    text.chars().filter(|letter| !matches!(letter, ' ' | '\t' | '\n' | '\r' | '\x0c' | '-')).collect()
}

fn values(digits: &str) -> Option<Vec<u32>> {
    digits.chars().map(|digit| digit.to_digit(10)).collect()
}
