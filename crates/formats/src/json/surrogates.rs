//! Unpaired surrogate escapes: Go reads each as U+FFFD, serde_json rejects them.

use std::borrow::Cow;

/// Digits that replace those of an unpaired surrogate; of the same length, so that offsets do not change.
const REPLACEMENT: &str = "fffd";

/// Replaces each unpaired surrogate by `\ufffd`.
pub(super) fn replace_unpaired(text: Cow<'_, str>) -> Cow<'_, str> {
    let offsets = unpaired(text.as_bytes());
    if offsets.is_empty() {
        return text;
    }
    let mut text = text.into_owned();
    for at in offsets {
        text.replace_range(at..at + REPLACEMENT.len(), REPLACEMENT);
    }
    Cow::Owned(text)
}

/// The offsets of the digits of unpaired surrogates.
fn unpaired(text: &[u8]) -> Vec<usize> {
    let (mut at, mut offsets) = (0, Vec::new());
    while let Some(found) = text.get(at..).and_then(|rest| rest.iter().position(|byte| *byte == b'\\')) {
        at += found;
        at += match (code_unit(text, at), code_unit(text, at + 6)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => 12,
            (Some(0xd800..=0xdfff), _) => {
                offsets.push(at + 2);
                6
            }
            _ => 2,
        };
    }
    offsets
}

/// The code unit of a `\u` escape at this offset.
fn code_unit(text: &[u8], at: usize) -> Option<u16> {
    let digits = text.get(at..at + 6)?.strip_prefix(b"\\u")?;
    let digits = str::from_utf8(digits).ok().filter(|digits| !digits.starts_with('+'))?;
    u16::from_str_radix(digits, 16).ok()
}
