//! Regular expressions in Go's notation, RE2's, which the crate `regex` reads otherwise: there classes nest and intersect,
//! `\d` and `\w` know all of Unicode, and repetitions may follow each other.

use std::fmt;

use regex::bytes::Regex;

/// An expression that matches what Go's `regexp` matches.
#[derive(Clone, Debug)]
pub struct Pattern(Regex);

/// Why an expression is none, in Go's words.
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
    /// When Go does not take it, or it has a class of Unicode that is not built in.
    pub fn new(expression: &str) -> Result<Self, PatternError> {
        let translated = Translator { rest: expression, out: String::new(), repeats: false }.run()?;
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
    /// Whether the last thing was a repetition, which nothing may repeat.
    repeats: bool,
}

impl Translator<'_> {
    fn run(mut self) -> Result<String, PatternError> {
        while let Some(letter) = self.rest.chars().next() {
            let repeated = std::mem::take(&mut self.repeats);
            match letter {
                '\\' => self.escape()?,
                '[' => self.class()?,
                '(' => self.group()?,
                '*' | '+' | '?' => self.repeat(1, repeated)?,
                '{' => match counts(self.rest)? {
                    Some(length) => self.repeat(length, repeated)?,
                    None => self.literal(letter),
                },
                '.' | '^' | '$' | '|' | ')' => self.keep(1),
                letter => self.literal(letter),
            }
        }
        Ok(self.out)
    }

    fn keep(&mut self, length: usize) {
        let (kept, rest) = self.rest.split_at(length);
        self.out.push_str(kept);
        self.rest = rest;
    }

    fn literal(&mut self, letter: char) {
        self.out.push_str(&escaped(letter));
        self.rest = &self.rest[letter.len_utf8()..];
    }

    /// A repetition, and whether it is lazy.
    fn repeat(&mut self, length: usize, repeated: bool) -> Result<(), PatternError> {
        if repeated {
            return Err(error("invalid nested repetition operator", &self.rest[..length]));
        }
        self.keep(length);
        if self.rest.starts_with('?') {
            self.keep(1);
        }
        self.repeats = true;
        Ok(())
    }

    /// What opens a group: nothing else, a name, or flags.
    fn group(&mut self) -> Result<(), PatternError> {
        let Some(inner) = self.rest.strip_prefix("(?") else {
            self.keep(1);
            return Ok(());
        };
        let named = inner.strip_prefix("P<").or_else(|| inner.strip_prefix('<'));
        if let Some(name) = named.and_then(|named| named.split_once('>').map(|(name, _)| name)) {
            if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
                return Err(error("invalid named capture", format!("(?P<{name}>")));
            }
            // Rust's names begin with a letter.
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
            let behind = |at: usize| at + inner[at..].chars().next().map_or(0, char::len_utf8);
            let end = unknown.map_or(inner.len().min(length + 1), behind);
            return Err(error("invalid or unsupported Perl syntax", format!("(?{}", &inner[..end])));
        }
        if flags.is_empty() && inner.starts_with(')') {
            return Err(error("missing argument to repetition operator", "?"));
        }
        self.keep(2 + length + 1);
        Ok(())
    }

    /// A backslash and what it escapes, outside of a class.
    fn escape(&mut self) -> Result<(), PatternError> {
        if let Some(quoted) = self.rest.strip_prefix("\\Q") {
            let (text, rest) = quoted.split_once("\\E").unwrap_or((quoted, ""));
            // Each letter stands for itself, so that a repetition takes the last one alone.
            text.chars().for_each(|letter| self.out.push_str(&escaped(letter)));
            self.rest = rest;
            return Ok(());
        }
        let edge = [("\\A", "\\A"), ("\\z", "\\z"), ("\\b", "(?-u:\\b)"), ("\\B", "(?-u:\\B)")];
        if let Some((said, meant)) = edge.iter().find(|(said, _)| self.rest.starts_with(said)) {
            self.out.push_str(meant);
            self.rest = &self.rest[said.len()..];
            return Ok(());
        }
        match item(&mut self.rest)? {
            Item::Letter(letter) => self.out.push_str(&escaped(letter)),
            Item::Class(class) => {
                self.out.push('[');
                self.out.push_str(&class);
                self.out.push(']');
            }
        }
        Ok(())
    }

    /// A class, which is written anew: here it has letters, ranges and classes of one name alone.
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
            let from = match class_item(&mut rest).ok_or_else(unclosed)?? {
                Item::Letter(letter) => letter,
                Item::Class(class) => {
                    self.out.push_str(&class);
                    continue;
                }
            };
            self.out.push_str(&escaped(from));
            let Some(range) = rest.strip_prefix('-').filter(|range| !range.starts_with(']')) else {
                continue;
            };
            rest = range;
            match class_item(&mut rest).ok_or_else(unclosed)?? {
                Item::Letter(to) if to >= from => {
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

/// One letter, or a class that has a name, as it stands within brackets.
enum Item {
    Letter(char),
    Class(String),
}

/// The next member of a class; absent at the end of the text.
fn class_item(rest: &mut &str) -> Option<Result<Item, PatternError>> {
    let letter = rest.chars().next()?;
    if letter == '\\' {
        return Some(item(rest));
    }
    *rest = &rest[letter.len_utf8()..];
    Some(Ok(Item::Letter(letter)))
}

/// What a backslash and the letters behind it stand for.
fn item(rest: &mut &str) -> Result<Item, PatternError> {
    let whole = *rest;
    let invalid = || error("invalid escape sequence", whole.chars().take(2).collect::<String>());
    let mut letters = whole.chars();
    letters.next();
    let letter = letters.next().ok_or_else(|| error("trailing backslash at end of expression", ""))?;
    let behind = letters.as_str();
    *rest = behind;
    let class = |members: &str| Ok(Item::Class(members.to_owned()));
    match letter {
        'd' => class("0-9"),
        'D' => class("[^0-9]"),
        's' => class("\\t\\n\\x0c\\r "),
        'S' => class("[^\\t\\n\\x0c\\r ]"),
        'w' => class("0-9A-Za-z_"),
        'W' => class("[^0-9A-Za-z_]"),
        'p' | 'P' => {
            let end = match behind.strip_prefix('{') {
                Some(name) => name.find('}').ok_or_else(invalid)? + 2,
                None => behind.chars().next().ok_or_else(invalid)?.len_utf8(),
            };
            *rest = &behind[end..];
            Ok(Item::Class(whole[..2 + end].to_owned()))
        }
        'a' => Ok(Item::Letter('\x07')),
        'f' => Ok(Item::Letter('\x0c')),
        'n' => Ok(Item::Letter('\n')),
        'r' => Ok(Item::Letter('\r')),
        't' => Ok(Item::Letter('\t')),
        'v' => Ok(Item::Letter('\x0b')),
        'x' => hex(behind, rest).map(Item::Letter).ok_or_else(invalid),
        '0'..='7' => octal(whole, rest).map(Item::Letter).ok_or_else(invalid),
        letter if letter.is_ascii() && !letter.is_ascii_alphanumeric() => Ok(Item::Letter(letter)),
        _ => Err(invalid()),
    }
}

/// The letter of two digits, or of those in braces.
fn hex<'a>(behind: &'a str, rest: &mut &'a str) -> Option<char> {
    let (digits, length) = match behind.strip_prefix('{') {
        Some(inner) => inner.split_once('}').map(|(digits, _)| (digits, digits.len() + 2))?,
        None => (behind.get(..2)?, 2),
    };
    *rest = &behind[length..];
    let all = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    let code = u32::from_str_radix(digits, 16).ok().filter(|_| all);
    code.and_then(char::from_u32)
}

/// The letter of a backslash and up to three digits; a single digit but 0 would be a reference to a group.
fn octal<'a>(whole: &'a str, rest: &mut &'a str) -> Option<char> {
    let digits = whole[1..].bytes().take(3).take_while(|digit| matches!(digit, b'0'..=b'7')).count();
    if digits == 1 && !whole[1..].starts_with('0') {
        return None;
    }
    *rest = &whole[1 + digits..];
    u32::from_str_radix(&whole[1..=digits], 8).ok().and_then(char::from_u32)
}

/// The length of `{2}`, `{2,}` or `{2,3}`; absent where a brace begins something else, which stands for itself.
fn counts(text: &str) -> Result<Option<usize>, PatternError> {
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
    let wrong = || error("invalid repeat count", whole);
    let least: u32 = number(least).ok_or_else(wrong)?;
    match most.filter(|most| !most.is_empty()).map(|most| number(most).ok_or_else(wrong)).transpose()? {
        Some(most) if most < least => Err(wrong()),
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

/// A letter that stands for itself, wherever it is.
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
    fn case_56_what_go_refuses_is_none() {
        let words = |pattern: &str| Pattern::new(pattern).map(|_| ()).map_err(|error| error.to_string());
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
            assert_eq!(words(pattern), Err(format!("error parsing regexp: {want}")), "{pattern}");
        }
        for pattern in ["(", "*a", "(?=a)", "a{2}{3}", r"\Z", r"\C"] {
            assert!(words(pattern).is_err(), "{pattern}");
        }
    }
}
