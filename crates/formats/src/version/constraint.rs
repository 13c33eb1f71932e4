//! Constraints on versions as Gardener reads them (Masterminds/semver): `>= 1.26`, `~1.2.3 || 2.x`, `1.2 - 1.4`.

use thiserror::Error;

use super::Version;

/// What must hold of a version: alternatives, of each of which all bounds must hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constraint {
    alternatives: Vec<Vec<Bound>>,
}

/// Why a text is no constraint; the texts are the original's.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ConstraintError {
    /// An alternative is not a list of operators and versions.
    #[error("improper constraint: {0}")]
    Form(String),
    /// A version with operator is none.
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

/// From which number on a version says nothing: `1.x` from the minor on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Open {
    No,
    Patch,
    Minor,
    Major,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Bound {
    operator: Operator,
    version: Version,
    open: Open,
}

/// Longer ones first, so that none is taken for the beginning of another.
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
    /// The constraint that a text says. Bounds are separated by blanks or a comma, alternatives by `||`. A range after a
    /// blank, which the original refuses, is taken.
    ///
    /// # Errors
    /// Where an alternative is none, or a version in it is none.
    pub fn parse(text: &str) -> Result<Self, ConstraintError> {
        let alternatives = text.split("||").map(bounds).collect::<Result<_, _>>()?;
        Ok(Self { alternatives })
    }

    /// Whether a version keeps it. A prerelease keeps only bounds that name a prerelease.
    #[must_use]
    pub fn allows(&self, version: &Version) -> bool {
        self.alternatives.iter().any(|bounds| bounds.iter().all(|bound| bound.allows(version)))
    }
}

impl Bound {
    fn allows(&self, version: &Version) -> bool {
        let asks_releases = self.operator != Operator::NotEqual || self.open != Open::No;
        if asks_releases && !version.prerelease().is_empty() && self.version.prerelease().is_empty() {
            return false;
        }
        match self.operator {
            Operator::Equal if self.open == Open::No => *version == self.version,
            Operator::Equal | Operator::Tilde => self.tilde(version),
            Operator::NotEqual => self.differs(version),
            Operator::Greater => self.is_below(version),
            Operator::Less => *version < self.version,
            Operator::GreaterOrEqual => *version >= self.version,
            Operator::LessOrEqual => self.reaches(version),
            Operator::Caret => self.caret(version),
        }
    }

    /// Not before it, and of the same minor; of the same major where the minor is open. `~0.0.0` is anything.
    fn tilde(&self, version: &Version) -> bool {
        let nothing = (self.version.major, self.version.minor, self.version.patch) == (0, 0, 0);
        let anything = nothing && matches!(self.open, Open::No | Open::Major);
        let minor = self.open == Open::Minor || version.minor == self.version.minor;
        *version >= self.version && (anything || version.major == self.version.major && minor)
    }

    fn differs(&self, version: &Version) -> bool {
        match self.open {
            Open::Minor => version.major != self.version.major,
            Open::Patch if version.is_same_minor(&self.version) => {
                version.prerelease() != self.version.prerelease()
            }
            Open::Patch => true,
            Open::No | Open::Major => *version != self.version,
        }
    }

    /// `> 1.2` begins with 1.3, `> 1` with 2.
    fn is_below(&self, version: &Version) -> bool {
        match self.open {
            Open::Minor => version.major > self.version.major,
            Open::Patch => (version.major, version.minor) > (self.version.major, self.version.minor),
            Open::No | Open::Major => *version > self.version,
        }
    }

    /// `<= 1.2` ends with 1.2, `<= 1` with 1.
    fn reaches(&self, version: &Version) -> bool {
        match self.open {
            Open::No => *version <= self.version,
            Open::Minor => version.major <= self.version.major,
            Open::Patch | Open::Major => {
                (version.major, version.minor) <= (self.version.major, self.version.minor)
            }
        }
    }

    /// Not before it, and equal up to the first number that is not 0.
    fn caret(&self, version: &Version) -> bool {
        let Version { major, minor, patch, .. } = self.version;
        let same = if major > 0 || self.open == Open::Minor {
            version.major == major
        } else if minor > 0 || self.open == Open::Patch {
            version.is_same_minor(&self.version)
        } else {
            (version.major, version.minor, version.patch) == (0, 0, patch)
        };
        *version >= self.version && same
    }
}

fn bounds(text: &str) -> Result<Vec<Bound>, ConstraintError> {
    let improper = || ConstraintError::Form(text.to_owned());
    let (mut bounds, mut rest) = (Vec::new(), text.trim_start_matches(blank));
    loop {
        let (operator, after) = operator(rest);
        let (version, after) = version(after.trim_start_matches(blank)).ok_or_else(improper)?;
        let trimmed = after.trim_start_matches(blank);
        let until = trimmed.strip_prefix('-').filter(|_| trimmed.len() < after.len() && operator.is_none());
        rest = trimmed;
        if let Some(until) = until {
            let end = until.trim_start_matches(blank);
            let (end, after) = version_after(until, end).ok_or_else(improper)?;
            bounds.push(bound(Operator::GreaterOrEqual, &version)?);
            bounds.push(bound(Operator::LessOrEqual, &end)?);
            rest = after.trim_start_matches(blank);
        } else {
            bounds.push(bound(operator.unwrap_or(Operator::Equal), &version)?);
        }
        if rest.is_empty() {
            return Ok(bounds);
        }
        let separated = after.len() > trimmed.len() || until.is_some();
        rest = match rest.strip_prefix(',') {
            Some(rest) => rest.trim_start_matches(blank),
            None if separated => rest,
            None => return Err(improper()),
        };
    }
}

/// The version that ends a range, which a blank must stand before.
fn version_after<'a>(until: &str, end: &'a str) -> Option<(Pattern<'a>, &'a str)> {
    if end.len() < until.len() { version(end) } else { None }
}

fn blank(letter: char) -> bool {
    matches!(letter, ' ' | '\t' | '\n' | '\r' | '\x0c')
}

fn operator(text: &str) -> (Option<Operator>, &str) {
    let read = OPERATORS.iter().find_map(|(sign, operator)| Some((*operator, text.strip_prefix(sign)?)));
    read.map_or((None, text), |(operator, rest)| (Some(operator), rest))
}

/// A version in which any number may be `x`, `X` or `*`, or missing.
struct Pattern<'a> {
    text: &'a str,
    numbers: [&'a str; 3],
    prerelease: &'a str,
}

fn version(text: &str) -> Option<(Pattern<'_>, &str)> {
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
    Some((Pattern { text, numbers, prerelease }, after))
}

/// What follows a sign: names separated by dots, the sign included; empty where there are none.
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

fn bound(operator: Operator, pattern: &Pattern<'_>) -> Result<Bound, ConstraintError> {
    let is_open = |number: &str| matches!(number, "" | "x" | "X" | "*");
    let [major, minor, patch] = pattern.numbers;
    let (open, text) = if is_open(major) {
        (Open::Major, format!("0.0.0{}", pattern.prerelease))
    } else if is_open(minor) {
        (Open::Minor, format!("{major}.0.0{}", pattern.prerelease))
    } else if is_open(patch) {
        (Open::Patch, format!("{major}.{minor}.0{}", pattern.prerelease))
    } else {
        (Open::No, pattern.text.to_owned())
    };
    let version = Version::parse(&text).map_err(|_| ConstraintError::Version)?;
    Ok(Bound { operator, version, open })
}

#[cfg(test)]
mod tests;
