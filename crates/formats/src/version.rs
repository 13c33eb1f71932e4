//! Versions as Gardener parses them (Masterminds/semver): semantic versions and lenient forms such as `v1.27` or `1.21.09`.

pub mod constraint;

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// A version. Equality and order are precedence: `1.21.09` equals `1.21.9`, `1.27` equals `v1.27.0+build`.
///
/// Prints with three numbers and without a leading `v`; [`text`](Self::text) is the original text.
#[derive(Clone, Debug)]
pub struct Version {
    /// The first number.
    pub major: u64,
    /// The second; 0 if missing.
    pub minor: u64,
    /// The third; 0 if missing.
    pub patch: u64,
    prerelease: String,
    metadata: String,
    text: String,
}

/// Reason a text is not a version; the messages are those of Masterminds/semver.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum VersionError {
    /// It does not consist of one to three numbers with optional prerelease and metadata.
    #[error("Invalid Semantic Version")]
    Form,
    /// A number exceeds 64 bits.
    #[error("Error parsing version segment: strconv.ParseUint: parsing {0:?}: value out of range")]
    Size(String),
    /// A number of the prerelease begins with 0.
    #[error("Version segment starts with 0")]
    LeadingZero,
}

impl Version {
    /// Parses a version. It may have fewer than three numbers, and they may begin with 0.
    ///
    /// # Errors
    /// If the text is malformed, a number is too large, or a number of the prerelease begins with 0.
    pub fn parse(text: &str) -> Result<Self, VersionError> {
        let rest = text.strip_prefix('v').unwrap_or(text);
        let end = rest.bytes().position(|byte| matches!(byte, b'-' | b'+')).unwrap_or(rest.len());
        let (numbers, after) = rest.split_at(end);
        let (before, metadata) =
            after.split_once('+').map_or((after, None), |(text, after)| (text, Some(after)));
        let prerelease = before.strip_prefix('-');
        if ![prerelease, metadata].into_iter().flatten().all(is_dotted) {
            return Err(VersionError::Form);
        }
        let [major, minor, patch] = read_numbers(numbers)?;
        if prerelease.is_some_and(|text| text.split('.').any(has_leading_zero)) {
            return Err(VersionError::LeadingZero);
        }
        let owned = |text: Option<&str>| text.unwrap_or_default().to_owned();
        let (prerelease, metadata) = (owned(prerelease), owned(metadata));
        Ok(Self { major, minor, patch, prerelease, metadata, text: text.to_owned() })
    }

    /// The text that was parsed.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What follows `-`; empty for a release.
    #[must_use]
    pub fn prerelease(&self) -> &str {
        &self.prerelease
    }

    /// The first version of the minor that is `ahead` minors later.
    #[must_use]
    pub fn later_minor(&self, ahead: u64) -> Self {
        Self::of([self.major, self.minor.saturating_add(ahead), 0])
    }

    /// Whether both have the same major and minor.
    #[must_use]
    pub fn is_same_minor(&self, other: &Self) -> bool {
        (self.major, self.minor) == (other.major, other.minor)
    }

    /// Whether it is below a minor; prereleases belong to their minor.
    #[must_use]
    pub fn is_below(&self, major: u64, minor: u64) -> bool {
        (self.major, self.minor) < (major, minor)
    }

    pub(crate) fn of([major, minor, patch]: [u64; 3]) -> Self {
        let text = format!("{major}.{minor}.{patch}");
        Self { major, minor, patch, prerelease: String::new(), metadata: String::new(), text }
    }
}

impl FromStr for Version {
    type Err = VersionError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parse(text)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}.{}", self.major, self.minor, self.patch)?;
        if !self.prerelease.is_empty() {
            write!(formatter, "-{}", self.prerelease)?;
        }
        if !self.metadata.is_empty() {
            write!(formatter, "+{}", self.metadata)?;
        }
        Ok(())
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        let numbers = |version: &Self| (version.major, version.minor, version.patch);
        numbers(self)
            .cmp(&numbers(other))
            .then_with(|| compare_prereleases(&self.prerelease, &other.prerelease))
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Version {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Version {}

/// Parses one to three numbers separated by dots. Works byte by byte for speed, because every decision parses all versions
/// of a profile.
fn read_numbers(text: &str) -> Result<[u64; 3], VersionError> {
    let mut numbers = [Some(0_u64); 3];
    let (mut at, mut is_empty) = (0, true);
    for byte in text.bytes() {
        match byte {
            b'0'..=b'9' => {
                let digit = u64::from(byte - b'0');
                numbers[at] = numbers[at].and_then(|number| number.checked_mul(10)?.checked_add(digit));
                is_empty = false;
            }
            b'.' if !is_empty && at < 2 => (at, is_empty) = (at + 1, true),
            _ => return Err(VersionError::Form),
        }
    }
    match numbers {
        _ if is_empty => Err(VersionError::Form),
        [Some(major), Some(minor), Some(patch)] => Ok([major, minor, patch]),
        numbers => {
            let large = text.split('.').zip(numbers).find(|(_, number)| number.is_none());
            Err(VersionError::Size(large.map_or(text, |(text, _)| text).to_owned()))
        }
    }
}

/// Whether a text consists of names (letters, digits, `-`) separated by dots.
fn is_dotted(text: &str) -> bool {
    let is_name = |name: &str| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    text.split('.').all(is_name)
}

fn has_leading_zero(name: &str) -> bool {
    name.len() > 1 && name.starts_with('0') && name.bytes().all(|byte| byte.is_ascii_digit())
}

/// Compares prereleases. A release is later than its prereleases; of two prereleases the first difference decides, and
/// numbers are before words.
fn compare_prereleases(left: &str, right: &str) -> Ordering {
    match (left.is_empty(), right.is_empty()) {
        (true, true) => return Ordering::Equal,
        (true, false) => return Ordering::Greater,
        (false, true) => return Ordering::Less,
        (false, false) => {}
    }
    let number = |name: &str| name.parse::<u64>().ok();
    let (left, right): (Vec<&str>, Vec<&str>) = (left.split('.').collect(), right.split('.').collect());
    let names = left.iter().zip(&right).map(|(left, right)| match (number(left), number(right)) {
        (Some(left), Some(right)) => left.cmp(&right),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => left.cmp(right),
    });
    names.fold(Ordering::Equal, Ordering::then).then(left.len().cmp(&right.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lenient_forms_are_parsed() {
        let read = |text: &str| Version::parse(text).map(|version| (version.to_string(), version.text));
        let same = |canonical: &str, text: &str| Ok((canonical.to_owned(), text.to_owned()));
        assert_eq!(read("1.27.4"), same("1.27.4", "1.27.4"));
        assert_eq!(read("v1.27"), same("1.27.0", "v1.27"));
        assert_eq!(read("1"), same("1.0.0", "1"));
        assert_eq!(read("1.21.09"), same("1.21.9", "1.21.09"));
        assert_eq!(read("1.2.3-rc.1+build.07"), same("1.2.3-rc.1+build.07", "1.2.3-rc.1+build.07"));
        assert_eq!(read("1-0"), same("1.0.0-0", "1-0"));
        assert_eq!(read("1+a-b"), same("1.0.0+a-b", "1+a-b"));
        assert_eq!(read("1-a-"), same("1.0.0-a-", "1-a-"));
        assert_eq!(
            read("18446744073709551615.2.3"),
            same("18446744073709551615.2.3", "18446744073709551615.2.3")
        );
    }

    #[test]
    fn malformed_versions_have_the_messages_of_masterminds_semver() {
        let error = |text: &str| Version::parse(text).map(|version| version.text).unwrap_err().to_string();
        for text in [
            "",
            "v",
            "1.",
            ".1",
            "1.2.3.4",
            "1.2.3-",
            "1.2.3-a..b",
            "1.2.3+",
            " 1.2.3",
            "1.2.x",
            "1..3",
            "1.2.",
            "vv1",
            "1.2.3-ä",
            "1.2.3-+a",
            "1.2.3-a+",
            "1.99999999999999999999.x",
        ] {
            assert_eq!(error(text), "Invalid Semantic Version", "{text}");
        }
        assert_eq!(error("1.2.3-rc.01"), "Version segment starts with 0");
        let large = "Error parsing version segment: strconv.ParseUint: parsing \"18446744073709551616\": value out of range";
        assert_eq!(error("1.18446744073709551616"), large);
        assert_eq!(
            error("99999999999999999999.1-01"),
            large.replace("18446744073709551616", "99999999999999999999")
        );
    }

    #[test]
    fn order_is_precedence() {
        let ascending = [
            "0.9.9",
            "1.0.0-1",
            "1.0.0-2",
            "1.0.0-11",
            "1.0.0-alpha",
            "1.0.0-alpha.1",
            "1.0.0-alpha.beta",
            "1.0.0-beta",
            "1.0.0",
            "1.0.1",
            "1.1",
            "1.10.0",
            "2",
        ]
        .map(|text| Version::parse(text).unwrap());
        for pair in ascending.windows(2) {
            assert!(pair[0] < pair[1], "{} before {}", pair[0], pair[1]);
        }
        assert_eq!(Version::parse("v1.2"), Version::parse("1.02.0+x"));
    }

    #[test]
    fn minors_are_compared_and_advanced() {
        let version = Version::parse("1.20.5-rc.1").unwrap();
        assert_eq!(version.later_minor(2).to_string(), "1.22.0");
        assert!(version.is_same_minor(&Version::parse("1.20").unwrap()));
        assert!(!version.is_same_minor(&Version::parse("2.20").unwrap()));
        let below = |text: &str| Version::parse(text).unwrap().is_below(1, 27);
        assert_eq!(
            ["1.26.9", "1.27.0-rc.1", "1.27.0", "0.28.0", "2.0.0"].map(below),
            [true, false, false, true, false]
        );
    }
}
