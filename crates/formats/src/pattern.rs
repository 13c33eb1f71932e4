//! Regular expressions in Go's syntax (RE2), translated to that of the crate `regex`, in which classes nest and intersect,
//! `\d` and `\w` match all of Unicode, and repetitions may follow each other.

use std::fmt::{self, Write as _};

use regex::bytes::Regex;

mod class;

use class::{ClassMember, class_member, escaped_member, posix_class};

/// An expression that matches what Go's `regexp` matches.
#[derive(Clone, Debug)]
pub struct Pattern(Regex);

/// Reason an expression is invalid, with Go's message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatternError {
    code: &'static str,
    part: String,
}

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error parsing regexp: {}: `{}`", self.code, self.part)
    }
}

impl std::error::Error for PatternError {}

impl Pattern {
    /// Compiles an expression.
    ///
    /// # Errors
    /// If Go rejects it, or if it is larger than the crate allows.
    pub fn new(expression: &str) -> Result<Self, PatternError> {
        let translated = Translator::new(expression).translate()?;
        let regex = Regex::new(&translated);
        regex.map(Self).map_err(|_| error("cannot be compiled", expression))
    }

    /// Whether a text has a match anywhere.
    #[must_use]
    pub fn is_match(&self, text: &str) -> bool {
        self.0.is_match(text.as_bytes())
    }
}

fn error(code: &'static str, part: impl Into<String>) -> PatternError {
    PatternError { code, part: part.into() }
}

/// The largest number of repetitions.
const MOST: u32 = 1000;

struct Translator<'a> {
    whole: &'a str,
    rest: &'a str,
    out: String,
    /// The text from the previous repetition on, if that was the previous element: it must not be repeated.
    repeated: Option<&'a str>,
    /// How many copies the previous element holds at most; `None` if there is nothing to repeat.
    element: Option<u32>,
    /// The most copies that an element of this group holds.
    most: u32,
    /// The same of the groups around this one.
    groups: Vec<u32>,
}

impl<'a> Translator<'a> {
    fn new(whole: &'a str) -> Self {
        let (out, groups) = (String::new(), Vec::new());
        Self { whole, rest: whole, out, repeated: None, element: None, most: 1, groups }
    }

    fn translate(mut self) -> Result<String, PatternError> {
        while let Some(letter) = self.rest.chars().next() {
            let repeated = self.repeated.take();
            match letter {
                '\\' => self.escape()?,
                '[' => self.class()?,
                '(' => self.group()?,
                ')' => self.close()?,
                '*' | '+' | '?' => self.repeat(1, 1, repeated)?,
                '{' => match repetition(self.rest)? {
                    Some((length, most)) => self.repeat(length, most, repeated)?,
                    None => self.literal(letter),
                },
                '|' => {
                    self.copy(1);
                    self.element = None;
                }
                '.' | '^' | '$' => {
                    self.copy(1);
                    self.element = Some(1);
                }
                letter => self.literal(letter),
            }
        }
        if self.groups.is_empty() { Ok(self.out) } else { Err(error("missing closing )", self.whole)) }
    }

    fn copy(&mut self, length: usize) {
        let (copied, rest) = self.rest.split_at(length);
        self.out.push_str(copied);
        self.rest = rest;
    }

    fn literal(&mut self, letter: char) {
        self.out.push_str(&escaped(letter));
        self.rest = &self.rest[letter.len_utf8()..];
        self.element = Some(1);
    }

    /// Translates a repetition operator, with `?` if it is lazy.
    fn repeat(&mut self, length: usize, most: u32, repeated: Option<&str>) -> Result<(), PatternError> {
        let before = self.rest;
        let end = length + usize::from(before[length..].starts_with('?'));
        if let Some(previous) = repeated {
            let part = &previous[..previous.len() - (before.len() - end)];
            return Err(error("invalid nested repetition operator", part));
        }
        let operator = &before[..end];
        let element =
            self.element.ok_or_else(|| error("missing argument to repetition operator", operator))?;
        let copies = element.saturating_mul(most);
        if copies > MOST && most > 1 {
            return Err(error("invalid repeat count", operator));
        }
        self.copy(end);
        self.element = Some(copies);
        self.most = self.most.max(copies);
        self.repeated = Some(before);
        Ok(())
    }

    fn open(&mut self, text: &str) {
        self.out.push_str(text);
        self.groups.push(std::mem::replace(&mut self.most, 1));
        self.element = None;
    }

    fn close(&mut self) -> Result<(), PatternError> {
        let around = self.groups.pop().ok_or_else(|| error("unexpected )", self.whole))?;
        self.copy(1);
        self.element = Some(self.most);
        self.most = self.most.max(around);
        Ok(())
    }

    /// Translates the opening of a group: plain, with a name, or with flags.
    fn group(&mut self) -> Result<(), PatternError> {
        let Some(inner) = self.rest.strip_prefix("(?") else {
            self.rest = &self.rest[1..];
            self.open("(");
            return Ok(());
        };
        if let Some(named) = inner.strip_prefix("P<").or_else(|| inner.strip_prefix('<')) {
            let end = named.find('>');
            let name = &named[..end.unwrap_or_default()];
            let part =
                &self.rest[..end.map_or(self.rest.len(), |end| self.rest.len() - named.len() + end + 1)];
            if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
                return Err(error("invalid named capture", part));
            }
            // Drops the name: in Rust a name must begin with a letter.
            self.rest = &self.rest[part.len()..];
            self.open("(");
            return Ok(());
        }
        self.flags(inner)
    }

    /// Translates the flags after `(?`, of a group or of what follows.
    fn flags(&mut self, inner: &'a str) -> Result<(), PatternError> {
        let (mut set, mut unset) = (String::new(), String::new());
        // Whether flags are unset, and whether one was named.
        let mut unsets = None;
        for (at, letter) in inner.char_indices() {
            let end = at + letter.len_utf8();
            match letter {
                'i' | 'm' | 's' | 'U' => {
                    set.retain(|other| other != letter);
                    unset.retain(|other| other != letter);
                    if unsets.is_some() {
                        unset.push(letter);
                    } else {
                        set.push(letter);
                    }
                    unsets = unsets.map(|_| true);
                }
                '-' if unsets.is_none() => unsets = Some(false),
                ':' | ')' if unsets != Some(false) => {
                    self.rest = &inner[end..];
                    let dash = if unset.is_empty() { "" } else { "-" };
                    match letter {
                        ':' => self.open(&format!("(?{set}{dash}{unset}:")),
                        _ if set.is_empty() && unset.is_empty() => {}
                        _ => write!(self.out, "(?{set}{dash}{unset})").unwrap_or_default(),
                    }
                    return Ok(());
                }
                _ => return Err(error("invalid or unsupported Perl syntax", format!("(?{}", &inner[..end]))),
            }
        }
        Err(error("invalid or unsupported Perl syntax", self.rest))
    }

    /// Translates an escape outside a class.
    fn escape(&mut self) -> Result<(), PatternError> {
        if let Some(quoted) = self.rest.strip_prefix("\\Q") {
            let (text, rest) = quoted.split_once("\\E").unwrap_or((quoted, ""));
            // Escapes each letter, so that a repetition applies to the last one only.
            text.chars().for_each(|letter| self.out.push_str(&escaped(letter)));
            self.rest = rest;
            if !text.is_empty() {
                self.element = Some(1);
            }
            return Ok(());
        }
        self.element = Some(1);
        let anchors = [("\\A", "\\A"), ("\\z", "\\z"), ("\\b", "(?-u:\\b)"), ("\\B", "(?-u:\\B)")];
        if let Some((go, rust)) = anchors.iter().find(|(go, _)| self.rest.starts_with(go)) {
            self.out.push_str(rust);
            self.rest = &self.rest[go.len()..];
            return Ok(());
        }
        match escaped_member(&mut self.rest)? {
            ClassMember::Letter(letter) => self.out.push_str(&escaped(letter)),
            ClassMember::Class(class) => {
                self.out.push('[');
                self.out.push_str(&class);
                self.out.push(']');
            }
        }
        Ok(())
    }

    /// Translates a bracketed class into one of letters, ranges and named classes only.
    fn class(&mut self) -> Result<(), PatternError> {
        let whole = self.rest;
        let unclosed = || error("missing closing ]", whole);
        let mut rest = &whole[1..];
        self.out.push('[');
        if let Some(negated) = rest.strip_prefix('^') {
            self.out.push('^');
            rest = negated;
        }
        let mut is_first = true;
        while is_first || !rest.starts_with(']') {
            is_first = false;
            if let Some(name) = posix_class(rest)? {
                self.out.push_str(name);
                rest = &rest[name.len()..];
                continue;
            }
            let member = rest;
            let from = match class_member(&mut rest).ok_or_else(unclosed)?? {
                ClassMember::Letter(letter) => letter,
                ClassMember::Class(class) => {
                    self.out.push_str(&class);
                    continue;
                }
            };
            self.out.push_str(&escaped(from));
            let Some(range) = rest.strip_prefix('-').filter(|range| !range.starts_with(']')) else {
                continue;
            };
            rest = range;
            match class_member(&mut rest).ok_or_else(unclosed)?? {
                ClassMember::Letter(to) if to >= from => {
                    self.out.push('-');
                    self.out.push_str(&escaped(to));
                }
                ClassMember::Letter(_) => {
                    let part = &member[..member.len() - rest.len()];
                    return Err(error("invalid character class range", part));
                }
                ClassMember::Class(_) => {
                    return Err(error("invalid escape sequence", &range[..2]));
                }
            }
        }
        self.out.push(']');
        self.element = Some(1);
        self.rest = &rest[1..];
        Ok(())
    }
}

/// The length of `{2}`, `{2,}` or `{2,3}` and the copies it makes at most; `None` if the brace is a literal.
fn repetition(text: &str) -> Result<Option<(usize, u32)>, PatternError> {
    let Some(inner) = text[1..].split_once('}').map(|(inner, _)| inner) else { return Ok(None) };
    let (least, most) = inner.split_once(',').map_or((inner, None), |(least, most)| (least, Some(most)));
    let is_number = |text: &str| {
        !text.is_empty()
            && text.bytes().all(|digit| digit.is_ascii_digit())
            && (text == "0" || !text.starts_with('0'))
    };
    if !is_number(least) || most.is_some_and(|most| !most.is_empty() && !is_number(most)) {
        return Ok(None);
    }
    let whole = &text[..inner.len() + 2];
    let number = |text: &str| text.parse().ok().filter(|number| *number <= MOST);
    let invalid = || error("invalid repeat count", whole);
    let least: u32 = number(least).ok_or_else(invalid)?;
    match most.filter(|most| !most.is_empty()).map(|most| number(most).ok_or_else(invalid)).transpose()? {
        Some(most) if most < least => Err(invalid()),
        most => Ok(Some((whole.len(), most.unwrap_or(least)))),
    }
}

/// A letter in a form that is literal everywhere.
fn escaped(letter: char) -> String {
    if letter.is_alphanumeric() || letter == '_' || letter == ' ' {
        letter.to_string()
    } else {
        format!("\\x{{{:x}}}", u32::from(letter))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_56_patterns_match_as_in_go() {
        let table = [
            (r"^\d+$", "٣", false),
            (r"^\w+$", "é", false),
            (r"^\bé\b$", "é", false),
            (r"^\S+$", "a\u{a0}b", true),
            (r"^[\w-\.]+$", "a-b.c", true),
            (r"^\Qa.b\E$", "a.b", true),
            (r"^{a}$", "{a}", true),
            (r"^a{,2}$", "a{,2}", true),
            (r"^\101$", "A", true),
            (r"^[a&&b]$", "&", true),
            (r"^[[a]]$", "a]", true),
            (r"^\<a$", "<a", true),
            (r"^[]a]+$", "a]", true),
            (r"^[^]a]$", "]", false),
            (r"^[[:alpha:]\d_-]+$", "a1_-", true),
            (r"^\D\W$", "a-", true),
            (r"^[\Wa]$", "a", true),
            (r"^(?i:AB)(?P<n1>c)(?<x>d)$", "abcd", true),
            (r"^a{2,3}?$", "aaa", true),
            (r"^\x{e9}\x41$", "éA", true),
            (r"a\B", "ab", true),
            (r"^[a~~b]$", "~", true),
            (r"^\p{^Lu}[\P{^Lu}]$", "aA", true),
            (r"^(?)(?ii)A(?i-i)a$", "aa", true),
        ];
        for (pattern, text, want) in table {
            assert_eq!(Pattern::new(pattern).unwrap().is_match(text), want, "{pattern} {text}");
        }
    }

    #[test]
    fn case_56_expressions_that_go_rejects_are_errors() {
        let error = |pattern: &str| Pattern::new(pattern).map(|_| ()).map_err(|error| error.to_string());
        let table = [
            ("^a{1001}$", "invalid repeat count: `{1001}`"),
            ("a**", "invalid nested repetition operator: `**`"),
            ("a*?*", "invalid nested repetition operator: `*?*`"),
            ("a{2}{3}", "invalid nested repetition operator: `{2}{3}`"),
            ("a|*?", "missing argument to repetition operator: `*?`"),
            ("(?i)*", "missing argument to repetition operator: `*`"),
            (r"\Q\E*", "missing argument to repetition operator: `*`"),
            ("{2}", "missing argument to repetition operator: `{2}`"),
            ("(a{100}){100}", "invalid repeat count: `{100}`"),
            ("((a{10}){10}){11}", "invalid repeat count: `{11}`"),
            ("(a", "missing closing ): `(a`"),
            ("(?i:", "missing closing ): `(?i:`"),
            ("(a))", "unexpected ): `(a))`"),
            ("[bz-a]", "invalid character class range: `z-a`"),
            (r"[a-\pL]", r"invalid escape sequence: `\p`"),
            (r"[\p{Foo}]", r"invalid character class range: `\p{Foo}`"),
            (r"\pX", r"invalid character class range: `\pX`"),
            (r"\p", r"invalid character class range: `\p`"),
            ("(?P<n", "invalid named capture: `(?P<n`"),
            ("(?<a-b>a)", "invalid named capture: `(?<a-b>`"),
            (r"\x{110000}", r"invalid escape sequence: `\x{110000`"),
            (r"\x{}", r"invalid escape sequence: `\x{}`"),
            (r"\xZZa", r"invalid escape sequence: `\xZZ`"),
            (r"\x4", r"invalid escape sequence: `\x4`"),
            ("(?", "invalid or unsupported Perl syntax: `(?`"),
            ("(?=a)", "invalid or unsupported Perl syntax: `(?=`"),
            ("(?i-:a)", "invalid or unsupported Perl syntax: `(?i-:`"),
            ("(?--i)", "invalid or unsupported Perl syntax: `(?--`"),
            (r"^\u0041$", r"invalid escape sequence: `\u`"),
            (r"^(?-u:\w)$", "invalid or unsupported Perl syntax: `(?-u`"),
            (r"(a)\1", r"invalid escape sequence: `\1`"),
            ("[a", "missing closing ]: `[a`"),
            (r"[a-\d]", r"invalid escape sequence: `\d`"),
            ("(?x:a)", "invalid or unsupported Perl syntax: `(?x`"),
            ("(?é:a)", "invalid or unsupported Perl syntax: `(?é`"),
        ];
        for (pattern, want) in table {
            assert_eq!(error(pattern), Err(format!("error parsing regexp: {want}")), "{pattern}");
        }
        for pattern in ["(", "*a", r"\Z", r"\C"] {
            assert!(error(pattern).is_err(), "{pattern}");
        }
    }
}
