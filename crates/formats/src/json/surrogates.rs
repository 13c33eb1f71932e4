//! Escapes that are half a character: Go reads each as U+FFFD, serde_json refuses them.

use std::borrow::Cow;

/// What stands for half a character; as long as what it replaces, so that offsets stay.
const REPLACEMENT: &str = "fffd";

/// The text with `\ufffd` for each surrogate that has no other half.
pub(super) fn replaced(text: Cow<'_, str>) -> Cow<'_, str> {
    let halves = halves(text.as_bytes());
    if halves.is_empty() {
        return text;
    }
    let mut text = text.into_owned();
    for at in halves {
        text.replace_range(at..at + REPLACEMENT.len(), REPLACEMENT);
    }
    Cow::Owned(text)
}

/// Where the digits of such surrogates are.
fn halves(text: &[u8]) -> Vec<usize> {
    let (mut at, mut halves) = (0, Vec::new());
    while let Some(found) = text.get(at..).and_then(|rest| rest.iter().position(|byte| *byte == b'\\')) {
        at += found;
        at += match (unit(text, at), unit(text, at + 6)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => 12,
            (Some(0xd800..=0xdfff), _) => {
                halves.push(at + 2);
                6
            }
            _ => 2,
        };
    }
    halves
}

/// The code unit that an escape at this place says.
fn unit(text: &[u8], at: usize) -> Option<u16> {
    let digits = text.get(at..at + 6)?.strip_prefix(b"\\u")?;
    let digits = str::from_utf8(digits).ok().filter(|digits| !digits.starts_with('+'))?;
    u16::from_str_radix(digits, 16).ok()
}
