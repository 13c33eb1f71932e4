//! Formats of strings in OpenAPI, as kube-apiserver validates custom resources; an unknown format matches everything.
//!
//! Source: k8s.io/kube-openapi v0.0.0-20260317180543 (pkg/validation/strfmt).

mod email;
mod numbered;
mod uri;

use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::LazyLock;

use crate::duration::GoDuration;
use crate::pattern::Pattern;
use crate::{name, time};

/// Formats that are regular expressions.
const PATTERNS: &[(&str, &str)] = &[
    (
        "hostname",
        r"^([a-zA-Z0-9\p{S}\p{L}]((-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?)|([a-zA-Z0-9\p{S}\p{L}](([a-zA-Z0-9-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?)(\.)){1,}([a-zA-Z\p{L}]){2,63})$",
    ),
    ("uuid", "(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$"),
    ("uuid3", "(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$"),
    ("uuid4", "(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$"),
    ("uuid5", "(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$"),
    ("hexcolor", "^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$"),
    (
        "rgbcolor",
        r"^rgb\(\s*(0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*,\s*(0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*,\s*(0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*\)$",
    ),
    ("ssn", r"^\d{3}[- ]?\d{2}[- ]?\d{4}$"),
    ("byte", "^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$"),
    ("bsonobjectid", "^[0-9a-fA-F]{24}$"),
];

static COMPILED: LazyLock<Vec<(&str, Pattern)>> = LazyLock::new(|| {
    let compiled = |&(name, pattern): &(&'static str, &str)| Some((name, Pattern::new(pattern).ok()?));
    PATTERNS.iter().filter_map(compiled).collect()
});

/// The formats of strings that CRDs may have; hyphens do not count.
const KNOWN: &[&str] = &[
    "bsonobjectid",
    "uri",
    "email",
    "hostname",
    "ipv4",
    "ipv6",
    "cidr",
    "mac",
    "uuid",
    "uuid3",
    "uuid4",
    "uuid5",
    "isbn",
    "isbn10",
    "isbn13",
    "creditcard",
    "ssn",
    "hexcolor",
    "rgbcolor",
    "byte",
    "password",
    "date",
    "duration",
    "datetime",
    "k8sshortname",
    "k8slongname",
];

/// Whether kube-apiserver heeds a format for values of a type (empty for any); it ignores others.
#[must_use]
pub fn is_known(format: &str, ty: &str) -> bool {
    match ty {
        "" | "string" => KNOWN.contains(&format.replace('-', "").as_str()),
        "integer" => matches!(format, "int32" | "int64"),
        "number" => matches!(format, "float" | "double"),
        _ => false,
    }
}

/// Whether a text has a format.
#[must_use]
pub fn matches(format: &str, text: &str) -> bool {
    match format {
        "date" => time::is_date(text),
        "date-time" | "datetime" => time::is_date_time(text),
        "duration" => GoDuration::parse(text).is_ok() || is_duration_in_words(text),
        "ipv4" => is_address(text) && text.contains('.'),
        "ipv6" => text.parse::<Ipv6Addr>().is_ok(),
        "cidr" => is_network(text),
        "mac" => is_hardware_address(text),
        "uri" => uri::is_request_uri(text),
        "email" => email::is_address(text),
        "hostname" => {
            text.len() <= 255
                && text.split('.').all(|label| label.len() <= 63)
                && matches_pattern(format, text)
        }
        "ssn" => text.len() == 11 && matches_pattern(format, text),
        "isbn10" => numbered::is_isbn10(text),
        "isbn13" => numbered::is_isbn13(text),
        "isbn" => numbered::is_isbn10(text) || numbered::is_isbn13(text),
        "creditcard" => numbered::is_credit_card(text),
        "k8s-short-name" => name::dns1123_label(text).is_empty(),
        "k8s-long-name" => name::dns1123_subdomain(text).is_empty(),
        other => matches_pattern(other, text),
    }
}

fn matches_pattern(format: &str, text: &str) -> bool {
    COMPILED.iter().find(|(name, _)| *name == format).is_none_or(|(_, pattern)| pattern.is_match(text))
}

/// `3 days`, `1 week 2 hours`: numbers with units anywhere in the text.
fn is_duration_in_words(text: &str) -> bool {
    const EXACT: &[&str] = &["ns", "us", "µs", "ms", "s", "m", "h", "hr", "d", "w", "wk"];
    const PREFIXES: &[&str] = &["nano", "micro", "milli", "sec", "min", "hour", "day", "week"];
    let (mut rest, mut found) = (text, false);
    while let Some(start) = rest.find(|letter: char| letter.is_ascii_digit()) {
        rest = &rest[start..];
        let end = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
        let (number, after) = rest.split_at(end);
        let after = after.trim_start_matches(['\t', '\n', '\x0c', '\r', ' ']);
        let end =
            after.find(|letter: char| !letter.is_ascii_alphabetic() && letter != 'µ').unwrap_or(after.len());
        let unit = after[..end].to_lowercase();
        if !unit.is_empty() {
            if number.parse::<i64>().is_err() {
                return false;
            }
            found |= EXACT.contains(&unit.as_str()) || PREFIXES.iter().any(|prefix| unit.starts_with(prefix));
        }
        rest = &after[end..];
    }
    found
}

/// An address of either family; the numbers of version 4 may begin with zeros.
fn is_address(text: &str) -> bool {
    if !text.contains(':') {
        return ipv4(text).is_some();
    }
    match text.rsplit_once(':') {
        Some((before, last)) if last.contains('.') => {
            ipv4(last).is_some_and(|last| format!("{before}:{last}").parse::<Ipv6Addr>().is_ok())
        }
        _ => text.parse::<Ipv6Addr>().is_ok(),
    }
}

fn ipv4(text: &str) -> Option<Ipv4Addr> {
    let parts: Vec<u8> = text.split('.').map(number).collect::<Option<_>>()?;
    <[u8; 4]>::try_from(parts).ok().map(Ipv4Addr::from)
}

/// A number with leading zeros.
fn number(text: &str) -> Option<u8> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

fn is_network(text: &str) -> bool {
    let Some((address, length)) = text.split_once('/') else { return false };
    let longest = if address.contains(':') { 128 } else { 32 };
    is_address(address) && number(length).is_some_and(|length| length <= longest)
}

/// Six, eight or twenty bytes in groups of two digits after `:` or `-`, or of four after `.`.
fn is_hardware_address(text: &str) -> bool {
    let separator = |at: usize| text.as_bytes().get(at).map(|byte| char::from(*byte));
    let (between, width) = match (separator(2), separator(4)) {
        (Some(between @ (':' | '-')), _) => (between, 2),
        (_, Some('.')) => ('.', 4),
        _ => return false,
    };
    let groups: Vec<&str> = text.split(between).collect();
    let is_hexadecimal =
        |group: &&str| group.len() == width && group.bytes().all(|byte| byte.is_ascii_hexdigit());
    matches!(groups.len() * width / 2, 6 | 8 | 20) && groups.iter().all(is_hexadecimal)
}

#[cfg(test)]
mod tests;
