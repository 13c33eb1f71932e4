//! PEM, as Go's `encoding/pem` reads it: what is no whole block is passed over.

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

const BEGIN: &[u8] = b"-----BEGIN ";
const END: &[u8] = b"\n-----END ";
const DASHES: &[u8] = b"-----";

/// Base64 as Go reads it: padded, the last bits whatever they are.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::RequireCanonical),
);

/// One block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// What stands behind `BEGIN`.
    pub label: String,
    /// Whether lines with a colon stand before the content.
    pub headers: bool,
    /// The content, decoded.
    pub content: Vec<u8>,
}

/// The blocks of a text, one after the other.
pub fn blocks(text: &[u8]) -> impl Iterator<Item = Block> + '_ {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (block, after) = next(rest)?;
        rest = after;
        Some(block)
    })
}

/// One block without headers, as `BEGIN label` has it.
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

/// The first whole block, and what follows it.
fn next(text: &[u8]) -> Option<(Block, &[u8])> {
    let mut from = 0;
    loop {
        let rest = text.get(from..)?;
        let end = find(rest, END)?;
        let trailer = end + END.len();
        if let Some(block) = between(&rest[..end], &rest[trailer..]) {
            return Some((block, line(&rest[end + 1..]).1));
        }
        from += trailer;
    }
}

/// The block that begins last in `before`, and whose end says `after`.
fn between(before: &[u8], after: &[u8]) -> Option<Block> {
    let begin = rfind(before, BEGIN)?;
    if begin > 0 && before[begin - 1] != b'\n' {
        return None;
    }
    let (first, mut body) = line(&before[begin + BEGIN.len()..]);
    let label = first.strip_suffix(DASHES)?;
    let mut headers = false;
    while !body.is_empty() {
        let (header, rest) = line(body);
        if !header.contains(&b':') {
            break;
        }
        headers = true;
        body = rest;
    }
    let end = line(after).0;
    if end.strip_suffix(DASHES)? != label {
        return None;
    }
    let body: Vec<u8> = body.iter().copied().filter(|byte| !b" \t\r\n".contains(byte)).collect();
    let content = BASE64.decode(body).ok()?;
    Some(Block { label: String::from_utf8_lossy(label).into_owned(), headers, content })
}

/// The first line, without blanks at its end, and the lines behind it.
fn line(text: &[u8]) -> (&[u8], &[u8]) {
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
    fn what_is_no_block_is_passed_over() {
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
    fn what_is_written_is_read() {
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
