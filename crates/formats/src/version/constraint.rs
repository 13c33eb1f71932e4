//! Version constraints as Gardener parses them (Masterminds/semver): `>= 1.26`, `~1.2.3 || 2.x`, `1.2 - 1.4`.

use thiserror::Error;

use super::Version;

/// A version constraint: all bounds of at least one alternative must hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constraint {
    alternatives: Vec<Vec<Bound>>,
}

/// Reason a text is not a constraint; the messages are those of Masterminds/semver.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ConstraintError {
    /// An alternative is not a list of operators and versions.
    #[error("improper constraint: {0}")]
    Form(String),
    /// The version after an operator is malformed.
    #[error("constraint Parser Error")]
    Version,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Equal,
    NotEqual,
    Greater,
    Less,
    GreaterOrEqual,
    LessOrEqual,
    Tilde,
    Caret,
}

/// The first number of a version that is a wildcard: the minor in `1.x`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wildcard {
    None,
    Patch,
    Minor,
    Major,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Bound {
    operator: Operator,
    version: Version,
    wildcard: Wildcard,
}

/// Longer ones first, because some are prefixes of others.
const OPERATORS: [(&str, Operator); 11] = [
    ("!=", Operator::NotEqual),
    (">=", Operator::GreaterOrEqual),
    ("=>", Operator::GreaterOrEqual),
    ("<=", Operator::LessOrEqual),
    ("=<", Operator::LessOrEqual),
    ("~>", Operator::Tilde),
    ("=", Operator::Equal),
    (">", Operator::Greater),
    ("<", Operator::Less),
    ("~", Operator::Tilde),
    ("^", Operator::Caret),
];

impl Constraint {
    /// Parses a constraint. Bounds are separated by blanks or a comma, alternatives by `||`. Unlike Masterminds/semver, this
    /// accepts a range after a blank.
    ///
    /// # Errors
    /// If an alternative or one of its versions is malformed.
    pub fn parse(text: &str) -> Result<Self, ConstraintError> {
        let alternatives = text.split("||").map(bounds).collect::<Result<_, _>>()?;
        Ok(Self { alternatives })
    }

    /// Whether a version satisfies the constraint. A prerelease satisfies only bounds that name a prerelease.
    #[must_use]
    pub fn allows(&self, version: &Version) -> bool {
        self.alternatives.iter().any(|bounds| bounds.iter().all(|bound| bound.allows(version)))
    }
}

impl Bound {
    fn allows(&self, version: &Version) -> bool {
        let excludes_prereleases = self.operator != Operator::NotEqual || self.wildcard != Wildcard::None;
        if excludes_prereleases && !version.prerelease().is_empty() && self.version.prerelease().is_empty() {
            return false;
        }
        match self.operator {
            Operator::Equal if self.wildcard == Wildcard::None => *version == self.version,
            Operator::Equal | Operator::Tilde => self.tilde(version),
            Operator::NotEqual => self.differs(version),
            Operator::Greater => self.greater(version),
            Operator::Less => *version < self.version,
            Operator::GreaterOrEqual => *version >= self.version,
            Operator::LessOrEqual => self.less_or_equal(version),
            Operator::Caret => self.caret(version),
        }
    }

    /// `~1.2.3`: at least this version, with the same minor, or the same major if the minor is a wildcard. `~0.0.0` allows
    /// everything.
    fn tilde(&self, version: &Version) -> bool {
        let is_zero = (self.version.major, self.version.minor, self.version.patch) == (0, 0, 0);
        let allows_all = is_zero && matches!(self.wildcard, Wildcard::None | Wildcard::Major);
        let minor = self.wildcard == Wildcard::Minor || version.minor == self.version.minor;
        *version >= self.version && (allows_all || version.major == self.version.major && minor)
    }

    fn differs(&self, version: &Version) -> bool {
        match self.wildcard {
            Wildcard::Minor => version.major != self.version.major,
            Wildcard::Patch if version.is_same_minor(&self.version) => {
                version.prerelease() != self.version.prerelease()
            }
            Wildcard::Patch => true,
            Wildcard::None | Wildcard::Major => *version != self.version,
        }
    }

    /// `> 1.2` begins with 1.3, `> 1` with 2.
    fn greater(&self, version: &Version) -> bool {
        match self.wildcard {
            Wildcard::Minor => version.major > self.version.major,
            Wildcard::Patch => (version.major, version.minor) > (self.version.major, self.version.minor),
            Wildcard::None | Wildcard::Major => *version > self.version,
        }
    }

    /// `<= 1.2` includes all of 1.2, `<= 1` all of 1.
    fn less_or_equal(&self, version: &Version) -> bool {
        match self.wildcard {
            Wildcard::None => *version <= self.version,
            Wildcard::Minor => version.major <= self.version.major,
            Wildcard::Patch | Wildcard::Major => {
                (version.major, version.minor) <= (self.version.major, self.version.minor)
            }
        }
    }

    /// `^1.2.3`: at least this version, and equal up to its first number that is not 0.
    fn caret(&self, version: &Version) -> bool {
        let Version { major, minor, patch, .. } = self.version;
        let same = if major > 0 || self.wildcard == Wildcard::Minor {
            version.major == major
        } else if minor > 0 || self.wildcard == Wildcard::Patch {
            version.is_same_minor(&self.version)
        } else {
            (version.major, version.minor, version.patch) == (0, 0, patch)
        };
        *version >= self.version && same
    }
}

fn bounds(text: &str) -> Result<Vec<Bound>, ConstraintError> {
    let improper = || ConstraintError::Form(text.to_owned());
    let (mut bounds, mut rest) = (Vec::new(), text.trim_start_matches(is_blank));
    loop {
        let (operator, after) = operator(rest);
        let (version, after) = version(after.trim_start_matches(is_blank)).ok_or_else(improper)?;
        let trimmed = after.trim_start_matches(is_blank);
        let until = trimmed.strip_prefix('-').filter(|_| trimmed.len() < after.len() && operator.is_none());
        rest = trimmed;
        if let Some(until) = until {
            let end = until.trim_start_matches(is_blank);
            let (end, after) = version_after(until, end).ok_or_else(improper)?;
            bounds.push(bound(Operator::GreaterOrEqual, &version)?);
            bounds.push(bound(Operator::LessOrEqual, &end)?);
            rest = after.trim_start_matches(is_blank);
        } else {
            bounds.push(bound(operator.unwrap_or(Operator::Equal), &version)?);
        }
        if rest.is_empty() {
            return Ok(bounds);
        }
        let separated = after.len() > trimmed.len() || until.is_some();
        rest = match rest.strip_prefix(',') {
            Some(rest) => rest.trim_start_matches(is_blank),
            None if separated => rest,
            None => return Err(improper()),
        };
    }
}

/// Parses the version that ends a range; a blank must precede it.
fn version_after<'a>(until: &str, end: &'a str) -> Option<(VersionPattern<'a>, &'a str)> {
    if end.len() < until.len() { version(end) } else { None }
}

fn is_blank(letter: char) -> bool {
    matches!(letter, ' ' | '\t' | '\n' | '\r' | '\x0c')
}

fn operator(text: &str) -> (Option<Operator>, &str) {
    let read = OPERATORS.iter().find_map(|(sign, operator)| Some((*operator, text.strip_prefix(sign)?)));
    read.map_or((None, text), |(operator, rest)| (Some(operator), rest))
}

/// A version in which any number may be `x`, `X` or `*`, or missing.
struct VersionPattern<'a> {
    text: &'a str,
    numbers: [&'a str; 3],
    prerelease: &'a str,
}

fn version(text: &str) -> Option<(VersionPattern<'_>, &str)> {
    let is_digit = |letter: char| letter.is_ascii_digit() || matches!(letter, 'x' | 'X' | '*' | '|');
    let number = |text: &str| text.find(|letter| !is_digit(letter)).unwrap_or(text.len());
    let first = text.strip_prefix('v').unwrap_or(text);
    let mut numbers = [&first[..number(first)], "", ""];
    if numbers[0].is_empty() {
        return None;
    }
    let mut rest = &first[numbers[0].len()..];
    for further in &mut numbers[1..] {
        let Some(after) = rest.strip_prefix('.').filter(|after| number(after) > 0) else { break };
        (*further, rest) = after.split_at(number(after));
    }
    let (prerelease, after) = names(rest, '-');
    let (_, after) = names(after, '+');
    let text = &text[..text.len() - after.len()];
    Some((VersionPattern { text, numbers, prerelease }, after))
}

/// Splits off a sign with the names after it, which dots separate; empty if there are none.
fn names(text: &str, sign: char) -> (&str, &str) {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
    let name = |text: &str| text.find(|letter| !is_letter(letter)).unwrap_or(text.len());
    let Some(first) = text.strip_prefix(sign).map(name).filter(|length| *length > 0) else {
        return ("", text);
    };
    let mut end = 1 + first;
    while let Some(further) = text[end..].strip_prefix('.').map(name).filter(|length| *length > 0) {
        end += 1 + further;
    }
    text.split_at(end)
}

fn bound(operator: Operator, pattern: &VersionPattern<'_>) -> Result<Bound, ConstraintError> {
    let is_wildcard = |number: &str| matches!(number, "" | "x" | "X" | "*");
    let [major, minor, patch] = pattern.numbers;
    let (wildcard, text) = if is_wildcard(major) {
        (Wildcard::Major, format!("0.0.0{}", pattern.prerelease))
    } else if is_wildcard(minor) {
        (Wildcard::Minor, format!("{major}.0.0{}", pattern.prerelease))
    } else if is_wildcard(patch) {
        (Wildcard::Patch, format!("{major}.{minor}.0{}", pattern.prerelease))
    } else {
        (Wildcard::None, pattern.text.to_owned())
    };
    let version = Version::parse(&text).map_err(|_| ConstraintError::Version)?;
    Ok(Bound { operator, version, wildcard })
}

#[cfg(test)]
mod tests;
