//! Checks the string formats that Kubernetes supports; unknown formats match everything.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::LazyLock;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use formats::pattern::Pattern;
use webhook::field::{Error, ErrorKind, Shown, quote};

use crate::object::structural::schema::Checks;

/// Formats that are regular expressions.
const PATTERNS: &[(&str, &str)] = &[
    ("bsonobjectid", "^[0-9a-fA-F]{24}$"),
    ("email", r"^[^@\s<>]+@[^@\s<>]+$"),
    (
        "hostname",
        r"^([a-zA-Z0-9]([-a-zA-Z0-9]{0,62}[a-zA-Z0-9])?\.)*[a-zA-Z0-9]([-a-zA-Z0-9]{0,62}[a-zA-Z0-9])?\.?$",
    ),
    ("mac", "^([0-9a-fA-F]{2}([:-][0-9a-fA-F]{2}){5}|([0-9a-fA-F]{4}\\.){2}[0-9a-fA-F]{4})$"),
    ("uuid", "(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$"),
    ("uuid3", "(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$"),
    ("uuid4", "(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$"),
    ("uuid5", "(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$"),
    ("ssn", r"^\d{3}[- ]?\d{2}[- ]?\d{4}$"),
    ("hexcolor", "^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$"),
    ("rgbcolor", r"^rgb\(\s*\d{1,3}\s*,\s*\d{1,3}\s*,\s*\d{1,3}\s*\)$"),
    ("isbn10", "^([0-9][- ]?){9}[0-9X]$"),
    ("isbn13", "^([0-9][- ]?){13}$"),
    ("isbn", "^(([0-9][- ]?){9}[0-9X]|([0-9][- ]?){13})$"),
    ("creditcard", "^([0-9][- ]?){13,19}$"),
];

static COMPILED: LazyLock<Vec<(&str, Pattern)>> = LazyLock::new(|| {
    let compiled = |&(name, pattern): &(&'static str, &str)| Some((name, Pattern::new(pattern).ok()?));
    PATTERNS.iter().filter_map(compiled).collect()
});

/// `spec.x in body must be of type date-time: "x"`.
pub(super) fn check(path: &str, text: &str, checks: &Checks) -> Option<Error> {
    let format = checks.format.as_deref()?;
    if matches(format, text) {
        return None;
    }
    Some(Error {
        kind: ErrorKind::TypeInvalid,
        field: path.to_owned(),
        value: Some(Shown::from(text)),
        detail: format!("{path} in body must be of type {format}: {}", quote(text)),
    })
}

fn matches(format: &str, text: &str) -> bool {
    match format {
        "byte" => STANDARD.decode(text).is_ok(),
        "date" => formats::time::is_date(text),
        "date-time" | "datetime" => formats::time::is_date_time(text),
        "duration" => formats::duration::GoDuration::parse(text).is_ok() || is_duration_in_words(text),
        "ipv4" => text.parse::<Ipv4Addr>().is_ok(),
        "ipv6" => text.parse::<Ipv6Addr>().is_ok(),
        "cidr" => is_cidr(text),
        "uri" => is_uri(text),
        "k8s-short-name" => formats::name::dns1123_label(text).is_empty(),
        "k8s-long-name" => formats::name::dns1123_subdomain(text).is_empty(),
        other => {
            COMPILED.iter().find(|(name, _)| *name == other).is_none_or(|(_, regex)| regex.is_match(text))
        }
    }
}

/// `3 days`, `1 week`: the second notation for durations.
fn is_duration_in_words(text: &str) -> bool {
    const UNITS: &[&str] = &[
        "ns", "us", "ms", "sec", "second", "m", "min", "minute", "h", "hr", "hour", "d", "day", "w", "wk",
        "week",
    ];
    let text = text.trim().to_lowercase();
    let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()));
    let unit = unit.trim();
    !number.is_empty() && (UNITS.contains(&unit) || UNITS.contains(&unit.trim_end_matches('s')))
}

fn is_cidr(text: &str) -> bool {
    let Some((address, length)) = text.split_once('/') else { return false };
    let longest = match address.parse::<IpAddr>() {
        Ok(IpAddr::V4(_)) => 32,
        Ok(IpAddr::V6(_)) => 128,
        Err(_) => return false,
    };
    length.parse::<u8>().is_ok_and(|length| length <= longest)
}

/// A URL with a scheme or an absolute path, as Go's request URIs.
fn is_uri(text: &str) -> bool {
    let scheme = text.split_once(':').map(|(scheme, _)| scheme);
    let has_scheme = scheme.is_some_and(|scheme| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
    });
    (has_scheme || text.starts_with('/')) && !text.contains(char::is_control) && !text.contains(' ')
}
