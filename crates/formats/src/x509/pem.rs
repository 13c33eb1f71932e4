//! PEM as Go's `encoding/pem` reads it: anything but complete blocks is skipped.

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

const BEGIN: &[u8] = b"-----BEGIN ";
const END: &[u8] = b"\n-----END ";
const DASHES: &[u8] = b"-----";

/// Base64 as Go reads it: padding is required, the unused last bits may have any value.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::RequireCanonical),
);

/// A PEM block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// The text after `BEGIN`.
    pub label: String,
    /// Whether header lines (with a colon) precede the content.
    pub headers: bool,
    /// The content, decoded.
    pub content: Vec<u8>,
}

/// The blocks of a text, one after the other.
pub fn blocks(text: &[u8]) -> impl Iterator<Item = Block> + '_ {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (block, after) = next_block(rest)?;
        rest = after;
        Some(block)
    })
}

/// Writes a block without headers.
#[must_use]
pub fn encode(label: &str, content: &[u8]) -> String {
    let body = BASE64.encode(content);
    let mut text = format!("-----BEGIN {label}-----\n");
    for line in body.as_bytes().chunks(64) {
        text.extend(line.iter().map(|byte| char::from(*byte)));
        text.push('\n');
    }
    text + &format!("-----END {label}-----\n")
}

/// The first complete block, and the text after it.
fn next_block(text: &[u8]) -> Option<(Block, &[u8])> {
    let mut from = 0;
    loop {
        let rest = text.get(from..)?;
        let end = find(rest, END)?;
        let trailer = end + END.len();
        if let Some(block) = parse_block(&rest[..end], &rest[trailer..]) {
            return Some((block, split_line(&rest[end + 1..]).1));
        }
        from += trailer;
    }
}

/// Parses the last block that begins in `before`; `after` begins with the label of its end.
fn parse_block(before: &[u8], after: &[u8]) -> Option<Block> {
    let begin = rfind(before, BEGIN)?;
    if begin > 0 && before[begin - 1] != b'\n' {
        return None;
    }
    let (first, mut body) = split_line(&before[begin + BEGIN.len()..]);
    let label = first.strip_suffix(DASHES)?;
    let mut headers = false;
    while !body.is_empty() {
        let (header, rest) = split_line(body);
        if !header.contains(&b':') {
            break;
        }
        headers = true;
        body = rest;
    }
    let end = split_line(after).0;
    if end.strip_suffix(DASHES)? != label {
        return None;
    }
    let body: Vec<u8> = body.iter().copied().filter(|byte| !b" \t\r\n".contains(byte)).collect();
    let content = BASE64.decode(body).ok()?;
    Some(Block { label: String::from_utf8_lossy(label).into_owned(), headers, content })
}

/// Splits off the first line, without trailing blanks.
fn split_line(text: &[u8]) -> (&[u8], &[u8]) {
    let (line, rest) = match text.iter().position(|byte| *byte == b'\n') {
        Some(at) => (text[..at].strip_suffix(b"\r").unwrap_or(&text[..at]), &text[at + 1..]),
        None => (text, &[][..]),
    };
    let end = line.iter().rposition(|byte| !b" \t".contains(byte)).map_or(0, |at| at + 1);
    (&line[..end], rest)
}

fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part)
}

fn rfind(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).rposition(|window| window == part)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "-----BEGIN A-----\nAAAA\n-----END A-----\n";

    #[test]
    fn anything_but_complete_blocks_is_skipped() {
        let table = [
            (GOOD.to_owned(), 1),
            (format!("text\n{GOOD}text\n{GOOD}"), 2),
            (GOOD.replace('\n', "\r\n"), 1),
            (format!("-----BEGIN A-----\nAAA\n-----END A-----\n{GOOD}"), 1),
            (format!("{GOOD}-----BEGIN A-----\nAAAA"), 1),
            (format!("-----BEGIN A-----\nAAAA\n{GOOD}"), 1),
            ("x-----BEGIN A-----\nAAAA\n-----END A-----\n".to_owned(), 0),
            ("-----BEGIN A-----\nAAAA\n-----END B-----\n".to_owned(), 0),
            ("-----BEGIN A-----\nAAAA\n-----END A-----x\n".to_owned(), 0),
            ("-----BEGIN A-----\n-----END A-----".to_owned(), 1),
        ];
        for (text, want) in table {
            assert_eq!(blocks(text.as_bytes()).count(), want, "{text}");
        }
    }

    #[test]
    fn encoded_blocks_are_read() {
        for length in [0, 1, 48, 49, 200] {
            let text = encode("A", &vec![7; length]);
            let block = blocks(text.as_bytes()).next().unwrap();
            assert_eq!(block, Block { label: "A".to_owned(), headers: false, content: vec![7; length] });
        }
    }

    #[test]
    fn lines_with_a_colon_are_headers() {
        let block = blocks(b"-----BEGIN A-----\nb: c\n\nAAAA\n-----END A-----\n").next().unwrap();
        assert_eq!(block, Block { label: "A".to_owned(), headers: true, content: vec![0; 3] });
    }
}
