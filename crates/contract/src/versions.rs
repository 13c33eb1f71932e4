//! Ranges of versions: `>=1.58`, `>=1.58, <1.82`, `1.61`, `!=1.61.2`.

/// A range: all bounds must hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Range(Vec<Bound>);

/// `v1.58`: up to three numbers; `=` and `!=` compare only the given ones.
type Numbers = Vec<u64>;

#[derive(Clone, Debug, PartialEq, Eq)]
struct Bound {
    comparator: Comparator,
    limit: Numbers,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparator {
    AtLeast,
    AtMost,
    Above,
    Below,
    NotEqual,
    Equal,
}

/// Longer operators first, as `>=` begins with `>`.
const OPERATORS: [(&str, Comparator); 6] = [
    (">=", Comparator::AtLeast),
    ("<=", Comparator::AtMost),
    ("!=", Comparator::NotEqual),
    (">", Comparator::Above),
    ("<", Comparator::Below),
    ("=", Comparator::Equal),
];

impl Range {
    /// Parses a range; `None` if it is invalid.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        text.split(',').map(Bound::parse).collect::<Option<_>>().map(Self)
    }

    /// Whether it covers a version; an invalid version is covered. The part after a dash or
    /// plus is ignored.
    #[must_use]
    pub fn covers(&self, version: &str) -> bool {
        let plain = version.trim().split(['-', '+']).next().unwrap_or_default();
        let Some(mut version) = numbers(plain) else { return true };
        version.resize(3, 0);
        self.0.iter().all(|bound| bound.holds(&version))
    }
}

impl Bound {
    fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let operator =
            OPERATORS.iter().find_map(|(sign, comparator)| Some((text.strip_prefix(sign)?, *comparator)));
        let (version, comparator) = operator.unwrap_or((text, Comparator::Equal));
        Some(Self { comparator, limit: numbers(version)? })
    }

    fn holds(&self, version: &[u64]) -> bool {
        let mut limit = self.limit.clone();
        limit.resize(3, 0);
        let limit = limit.as_slice();
        match self.comparator {
            Comparator::AtLeast => version >= limit,
            Comparator::AtMost => version <= limit,
            Comparator::Above => version > limit,
            Comparator::Below => version < limit,
            Comparator::NotEqual => !version.starts_with(&self.limit),
            Comparator::Equal => version.starts_with(&self.limit),
        }
    }
}

fn numbers(version: &str) -> Option<Numbers> {
    let version = version.trim();
    let parts = version.strip_prefix('v').unwrap_or(version).split('.');
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let numbers: Option<Numbers> =
        parts.map(|part| is_number(part).then(|| part.parse().ok()).flatten()).collect();
    numbers.filter(|numbers| numbers.len() <= 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_cover_versions() {
        let table = [
            (">=1.58", "v1.82.0", true),
            (">= v1.58", "v1.57.9", false),
            (">=1.58, <1.82", "v1.82.0", false),
            (">=1.58, <1.82", "v1.81.3-dev", true),
            (">1.58.1", "v1.58.1", false),
            ("<=1.58.1", "v1.58.1", true),
            ("1.61", "v1.61.4", true),
            ("=1.61", "v1.62.0", false),
            ("!=1.61.0", "v1.61.0", false),
            ("!=1.61", "v1.61.4", false),
            ("!=1.61", "v1.62.0", true),
            (">=1.58", "unknown", true),
        ];
        for (range, version, want) in table {
            let parsed = Range::parse(range).unwrap_or_else(|| panic!("{range} is a range"));
            assert_eq!(parsed.covers(version), want, "{range} {version}");
        }
    }

    #[test]
    fn invalid_ranges_are_refused() {
        for text in ["", "=<1.5", "><1.5", ">==1.5", "1.2.3.4", "1.x", "1.", ">=1.5,", "vv1", "+1", "~1.5"] {
            assert_eq!(Range::parse(text), None, "{text}");
        }
    }
}
