//! Escapes, and the members of classes.

use regex::bytes::Regex;

use super::{PatternError, error};

/// A letter, or a named class in the form used within brackets.
pub(super) enum ClassMember {
    Letter(char),
    Class(String),
}

/// Reads the next member of a class; `None` at the end of the text.
pub(super) fn class_member(rest: &mut &str) -> Option<Result<ClassMember, PatternError>> {
    let letter = rest.chars().next()?;
    if letter == '\\' {
        return Some(escaped_member(rest));
    }
    *rest = &rest[letter.len_utf8()..];
    Some(Ok(ClassMember::Letter(letter)))
}

/// Reads an escape: a backslash and the letters after it.
pub(super) fn escaped_member(rest: &mut &str) -> Result<ClassMember, PatternError> {
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
        'p' | 'P' => unicode_class(whole, rest),
        'a' => Ok(ClassMember::Letter('\x07')),
        'f' => Ok(ClassMember::Letter('\x0c')),
        'n' => Ok(ClassMember::Letter('\n')),
        'r' => Ok(ClassMember::Letter('\r')),
        't' => Ok(ClassMember::Letter('\t')),
        'v' => Ok(ClassMember::Letter('\x0b')),
        'x' => hex(whole, rest).map(ClassMember::Letter),
        '0'..='7' => octal(whole, rest).map(ClassMember::Letter).ok_or_else(invalid),
        letter if letter.is_ascii() && !letter.is_ascii_alphanumeric() => Ok(ClassMember::Letter(letter)),
        _ => Err(invalid()),
    }
}

/// Reads the name of a class of Unicode: one letter, or any number in braces.
fn unicode_class<'a>(whole: &'a str, rest: &mut &'a str) -> Result<ClassMember, PatternError> {
    let after = &whole[2..];
    let length = match after.strip_prefix('{') {
        Some(name) => name.find('}').map_or(after.len(), |end| end + 2),
        None => after.chars().next().map_or(0, char::len_utf8),
    };
    let class = &whole[..2 + length];
    *rest = &after[length..];
    // Rust does not have Go's second way to negate.
    let negated = [("\\p{^", "\\P{"), ("\\P{^", "\\p{")];
    let translated = negated.iter().find_map(|(go, rust)| Some(format!("{rust}{}", class.strip_prefix(go)?)));
    let translated = translated.unwrap_or_else(|| class.to_owned());
    Regex::new(&translated).map_err(|_| error("invalid character class range", class))?;
    Ok(ClassMember::Class(translated))
}

/// Reads the letter of a hexadecimal code: two digits, or any number in braces.
fn hex<'a>(whole: &'a str, rest: &mut &'a str) -> Result<char, PatternError> {
    let mut letters = whole[2..].chars();
    let mut code = 0;
    let digits = if whole[2..].starts_with('{') {
        letters.next();
        let mut digits = 0;
        loop {
            match letters.next() {
                Some('}') => break,
                Some(letter) if letter.is_ascii_hexdigit() => {
                    code = code * 16 + letter.to_digit(16).unwrap_or_default();
                    digits += 1;
                }
                _ => {
                    digits = 0;
                    break;
                }
            }
            if code > u32::from(char::MAX) {
                break;
            }
        }
        digits
    } else {
        let both: Vec<Option<u32>> = letters.by_ref().take(2).map(|letter| letter.to_digit(16)).collect();
        code = both.iter().flatten().fold(0, |code, digit| code * 16 + digit);
        usize::from(matches!(both[..], [Some(_), Some(_)]))
    };
    *rest = letters.as_str();
    let read = &whole[..whole.len() - rest.len()];
    char::from_u32(code).filter(|_| digits > 0).ok_or_else(|| error("invalid escape sequence", read))
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

/// The class with a name, such as `[:alpha:]`, at the beginning of the text.
pub(super) fn posix_class(rest: &str) -> Result<Option<&str>, PatternError> {
    let Some((named, end)) = rest.strip_prefix("[:").and_then(|named| Some((named, named.find(":]")?)))
    else {
        return Ok(None);
    };
    let name = &rest[..end + 4];
    if is_posix(&named[..end]) { Ok(Some(name)) } else { Err(error("invalid character class range", name)) }
}

fn is_posix(name: &str) -> bool {
    const NAMES: [&str; 14] = [
        "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space",
        "upper", "word", "xdigit",
    ];
    NAMES.contains(&name.strip_prefix('^').unwrap_or(name))
}
