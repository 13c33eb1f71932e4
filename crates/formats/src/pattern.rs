//! Regular expressions in Go's syntax (RE2), translated to that of the crate `regex`, in which classes nest and intersect,
//! `\d` and `\w` match all of Unicode, and repetitions may follow each other.

use std::fmt;

use regex::bytes::Regex;

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
    /// If Go rejects it, or if it names a Unicode class that is not built in.
    pub fn new(expression: &str) -> Result<Self, PatternError> {
        let translated = Translator { rest: expression, out: String::new(), repeats: false }.translate()?;
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
    rest: &'a str,
    out: String,
    /// Whether the previous element was a repetition, which must not be repeated.
    repeats: bool,
}

impl Translator<'_> {
    fn translate(mut self) -> Result<String, PatternError> {
        while let Some(letter) = self.rest.chars().next() {
            let repeated = std::mem::take(&mut self.repeats);
            match letter {
                '\\' => self.escape()?,
                '[' => self.class()?,
                '(' => self.group()?,
                '*' | '+' | '?' => self.repeat(1, repeated)?,
                '{' => match repetition_length(self.rest)? {
                    Some(length) => self.repeat(length, repeated)?,
                    None => self.literal(letter),
                },
                '.' | '^' | '$' | '|' | ')' => self.copy(1),
                letter => self.literal(letter),
            }
        }
        Ok(self.out)
    }

    fn copy(&mut self, length: usize) {
        let (copied, rest) = self.rest.split_at(length);
        self.out.push_str(copied);
        self.rest = rest;
    }

    fn literal(&mut self, letter: char) {
        self.out.push_str(&escaped(letter));
        self.rest = &self.rest[letter.len_utf8()..];
    }

    /// Translates a repetition operator, with `?` if it is lazy.
    fn repeat(&mut self, length: usize, repeated: bool) -> Result<(), PatternError> {
        if repeated {
            return Err(error("invalid nested repetition operator", &self.rest[..length]));
        }
        self.copy(length);
        if self.rest.starts_with('?') {
            self.copy(1);
        }
        self.repeats = true;
        Ok(())
    }

    /// Translates the opening of a group: plain, with a name, or with flags.
    fn group(&mut self) -> Result<(), PatternError> {
        let Some(inner) = self.rest.strip_prefix("(?") else {
            self.copy(1);
            return Ok(());
        };
        let named = inner.strip_prefix("P<").or_else(|| inner.strip_prefix('<'));
        if let Some(name) = named.and_then(|named| named.split_once('>').map(|(name, _)| name)) {
            if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
                return Err(error("invalid named capture", format!("(?P<{name}>")));
            }
            // Drops the name: in Rust a name must begin with a letter.
            self.out.push('(');
            let end = self.rest.find('>').map_or(self.rest.len(), |at| at + 1);
            self.rest = &self.rest[end..];
            return Ok(());
        }
        let length = inner.find([':', ')']).ok_or_else(|| error("missing closing )", self.rest))?;
        let flags = &inner[..length];
        let unset = flags.split_once('-').map(|(_, unset)| unset);
        let unknown = flags.find(|flag: char| !"imsU-".contains(flag));
        if unknown.is_some() || unset.is_some_and(|unset| unset.is_empty() || unset.contains('-')) {
            let after = |at: usize| at + inner[at..].chars().next().map_or(0, char::len_utf8);
            let end = unknown.map_or(inner.len().min(length + 1), after);
            return Err(error("invalid or unsupported Perl syntax", format!("(?{}", &inner[..end])));
        }
        if flags.is_empty() && inner.starts_with(')') {
            return Err(error("missing argument to repetition operator", "?"));
        }
        self.copy(2 + length + 1);
        Ok(())
    }

    /// Translates an escape outside a class.
    fn escape(&mut self) -> Result<(), PatternError> {
        if let Some(quoted) = self.rest.strip_prefix("\\Q") {
            let (text, rest) = quoted.split_once("\\E").unwrap_or((quoted, ""));
            // Escapes each letter, so that a repetition applies to the last one only.
            text.chars().for_each(|letter| self.out.push_str(&escaped(letter)));
            self.rest = rest;
            return Ok(());
        }
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
            if let Some(named) = rest.strip_prefix("[:")
                && let Some(end) = named.find(":]")
            {
                let name = &rest[..end + 4];
                if !is_posix(&named[..end]) {
                    return Err(error("invalid character class range", name));
                }
                self.out.push_str(name);
                rest = &rest[name.len()..];
                continue;
            }
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
                _ => return Err(error("invalid character class range", whole)),
            }
        }
        self.out.push(']');
        self.rest = &rest[1..];
        Ok(())
    }
}

/// A letter, or a named class in the form used within brackets.
enum ClassMember {
    Letter(char),
    Class(String),
}

/// Reads the next member of a class; `None` at the end of the text.
fn class_member(rest: &mut &str) -> Option<Result<ClassMember, PatternError>> {
    let letter = rest.chars().next()?;
    if letter == '\\' {
        return Some(escaped_member(rest));
    }
    *rest = &rest[letter.len_utf8()..];
    Some(Ok(ClassMember::Letter(letter)))
}

/// Reads an escape: a backslash and the letters after it.
fn escaped_member(rest: &mut &str) -> Result<ClassMember, PatternError> {
    let whole = *rest;
    let invalid = || error("invalid escape sequence", whole.chars().take(2).collect::<String>());
    let mut letters = whole.chars();
    letters.next();
    let letter = letters.next().ok_or_else(|| error("trailing backslash at end of expression", ""))?;
    let after = letters.as_str();
    *rest = after;
    let class = |members: &str| Ok(ClassMember::Class(members.to_owned()));
    match letter {
        'd' => class("0-9"),
        'D' => class("[^0-9]"),
        's' => class("\\t\\n\\x0c\\r "),
        'S' => class("[^\\t\\n\\x0c\\r ]"),
        'w' => class("0-9A-Za-z_"),
        'W' => class("[^0-9A-Za-z_]"),
        'p' | 'P' => {
            let end = match after.strip_prefix('{') {
                Some(name) => name.find('}').ok_or_else(invalid)? + 2,
                None => after.chars().next().ok_or_else(invalid)?.len_utf8(),
            };
            *rest = &after[end..];
            Ok(ClassMember::Class(whole[..2 + end].to_owned()))
        }
        'a' => Ok(ClassMember::Letter('\x07')),
        'f' => Ok(ClassMember::Letter('\x0c')),
        'n' => Ok(ClassMember::Letter('\n')),
        'r' => Ok(ClassMember::Letter('\r')),
        't' => Ok(ClassMember::Letter('\t')),
        'v' => Ok(ClassMember::Letter('\x0b')),
        'x' => hex(after, rest).map(ClassMember::Letter).ok_or_else(invalid),
        '0'..='7' => octal(whole, rest).map(ClassMember::Letter).ok_or_else(invalid),
        letter if letter.is_ascii() && !letter.is_ascii_alphanumeric() => Ok(ClassMember::Letter(letter)),
        _ => Err(invalid()),
    }
}

/// Reads the letter of a hexadecimal code: two digits, or any number in braces.
fn hex<'a>(after: &'a str, rest: &mut &'a str) -> Option<char> {
    let (digits, length) = match after.strip_prefix('{') {
        Some(inner) => inner.split_once('}').map(|(digits, _)| (digits, digits.len() + 2))?,
        None => (after.get(..2)?, 2),
    };
    *rest = &after[length..];
    let all = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    let code = u32::from_str_radix(digits, 16).ok().filter(|_| all);
    code.and_then(char::from_u32)
}

/// Reads the letter of a backslash and up to three octal digits; a single digit other than 0 would be a back reference.
fn octal<'a>(whole: &'a str, rest: &mut &'a str) -> Option<char> {
    let digits = whole[1..].bytes().take(3).take_while(|digit| matches!(digit, b'0'..=b'7')).count();
    if digits == 1 && !whole[1..].starts_with('0') {
        return None;
    }
    *rest = &whole[1 + digits..];
    u32::from_str_radix(&whole[1..=digits], 8).ok().and_then(char::from_u32)
}

/// The length of `{2}`, `{2,}` or `{2,3}`; `None` if the brace is a literal.
fn repetition_length(text: &str) -> Result<Option<usize>, PatternError> {
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
        _ => Ok(Some(whole.len())),
    }
}

fn is_posix(name: &str) -> bool {
    const NAMES: [&str; 14] = [
        "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space",
        "upper", "word", "xdigit",
    ];
    NAMES.contains(&name.strip_prefix('^').unwrap_or(name))
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
            ("a**", "invalid nested repetition operator: `*`"),
            (r"^\u0041$", r"invalid escape sequence: `\u`"),
            (r"^(?-u:\w)$", "invalid or unsupported Perl syntax: `(?-u`"),
            (r"(a)\1", r"invalid escape sequence: `\1`"),
            ("[a", "missing closing ]: `[a`"),
            (r"[a-\d]", r"invalid character class range: `[a-\d]`"),
            ("(?x:a)", "invalid or unsupported Perl syntax: `(?x`"),
            ("(?é:a)", "invalid or unsupported Perl syntax: `(?é`"),
        ];
        for (pattern, want) in table {
            assert_eq!(error(pattern), Err(format!("error parsing regexp: {want}")), "{pattern}");
        }
        for pattern in ["(", "*a", "(?=a)", "a{2}{3}", r"\Z", r"\C"] {
            assert!(error(pattern).is_err(), "{pattern}");
        }
    }
}
