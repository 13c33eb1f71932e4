//! Splits a document into sentences, so that each can be numbered.

use std::iter::Peekable;
use std::ops::Range;
use std::str::CharIndices;

use super::{hash, normal};

/// One sentence of a document. Every letter and digit of a document, except in list markers, is part
/// of exactly one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sentence<'a> {
    /// The line on which it begins, from 1.
    pub line: usize,
    /// Its bytes in the document.
    pub range: Range<usize>,
    /// Its text, without a list marker.
    pub text: &'a str,
    /// [`hash`] of the text.
    pub hash: String,
}

/// Words whose full stop does not end a sentence.
const ABBREVIATIONS: [&str; 9] = ["e.g", "i.e", "vs", "cf", "resp", "max", "min", "approx", "incl"];

/// Characters that may follow the end of a sentence before the space.
const CLOSING: [char; 12] = ['.', '!', '?', ')', ']', '”', '’', '"', '\'', '*', '_', '`'];

/// The fence of a block of code in Markdown.
const FENCE: &str = "```";

/// A line: its number, byte offset and text.
type NumberedLine<'a> = (usize, usize, &'a str);

/// The sentences of a document, in order.
///
/// A line is split after `.`, `!` and `?` if a space follows, except after abbreviations and in `(.)`. Front matter
/// is one sentence, and so is a block of code: in Markdown the text between fences; on a printed page, which has no
/// fences, consecutive lines without a blank line or a list item between them, if one of them begins with `key:`.
#[must_use]
pub fn sentences(document: &str) -> Vec<Sentence<'_>> {
    let mut split = Split { document, sentences: Vec::new(), open: Vec::new(), is_markdown: false };
    let mut offset = 0;
    let lines: Vec<NumberedLine<'_>> = document
        .split_inclusive('\n')
        .enumerate()
        .map(|(index, line)| {
            offset += line.len();
            (index + 1, offset - line.len(), line.trim_end())
        })
        .collect();
    split.is_markdown = lines.iter().any(|(_, _, text)| is_fence(text));
    let mut rest = lines.as_slice();
    while let Some((line, behind)) = rest.split_first() {
        let closes: Option<fn(&str) -> bool> = match line {
            (1, _, "---") => Some(|text| text == "---"),
            (_, _, text) if is_fence(text) => Some(is_fence),
            _ => None,
        };
        let Some(closes) = closes else {
            split.line(*line);
            rest = behind;
            continue;
        };
        split.close();
        let length = behind.iter().position(|(_, _, text)| closes(text)).unwrap_or(behind.len());
        split.add_block(&behind[..length]);
        rest = behind.get(length + 1..).unwrap_or_default();
    }
    split.close();
    split.sentences
}

struct Split<'a> {
    document: &'a str,
    sentences: Vec<Sentence<'a>>,
    /// Consecutive lines that may be code.
    open: Vec<NumberedLine<'a>>,
    is_markdown: bool,
}

impl<'a> Split<'a> {
    fn line(&mut self, line: NumberedLine<'a>) {
        let (_, _, text) = line;
        if text.trim().is_empty() {
            self.close();
        } else if is_item(text) {
            self.close();
            self.prose(line);
        } else {
            self.open.push(line);
        }
    }

    /// Ends the current block of consecutive lines.
    fn close(&mut self) {
        let lines = std::mem::take(&mut self.open);
        let is_code = !self.is_markdown && lines.len() > 1 && lines.iter().any(|(_, _, text)| is_key(text));
        if is_code {
            self.add_block(&lines);
        } else {
            for line in lines {
                self.prose(line);
            }
        }
    }

    /// Adds lines that are one sentence.
    fn add_block(&mut self, lines: &[NumberedLine<'a>]) {
        if let (Some((line, start, _)), Some((_, last, text))) = (lines.first(), lines.last()) {
            self.add(*line, *start..last + text.len());
        }
    }

    fn prose(&mut self, (line, offset, text): NumberedLine<'a>) {
        let mut start = marker_length(text);
        let mut rest = text[start..].char_indices().peekable();
        let base = start;
        while let Some((at, found)) = rest.next() {
            if !matches!(found, '.' | '!' | '?') {
                continue;
            }
            let stop = base + at;
            let end = skip_closing(&mut rest).map_or(text.len(), |at| base + at);
            let follows = text[end..].chars().next().is_some_and(char::is_whitespace);
            let is_plain = found == '.' && end == stop + 1;
            let before = &text[start..stop];
            let is_shown = before.ends_with('(');
            if follows && !is_shown && !(is_plain && is_abbreviation(before, &text[end..])) {
                self.add(line, offset + start..offset + end);
                start = end;
            }
        }
        self.add(line, offset + start..offset + text.len());
    }

    fn add(&mut self, line: usize, range: Range<usize>) {
        let text = &self.document[range.clone()];
        let start = range.start + (text.len() - text.trim_start().len());
        let text = text.trim();
        if !normal(text).is_empty() {
            let range = start..start + text.len();
            self.sentences.push(Sentence { line, range, text, hash: hash(text) });
        }
    }
}

/// Skips closing characters and returns the offset of the next character, if there is one.
fn skip_closing(rest: &mut Peekable<CharIndices<'_>>) -> Option<usize> {
    while rest.next_if(|(_, found)| CLOSING.contains(found)).is_some() {}
    rest.peek().map(|(at, _)| *at)
}

/// Whether the words before a stop end with an abbreviation; `etc.` ends a sentence before a capital.
fn is_abbreviation(before: &str, after: &str) -> bool {
    let opens = |found: char| found.is_whitespace() || ['(', '“', '‘', '"', '\''].contains(&found);
    let word = before.rsplit(opens).next().unwrap_or_default().to_lowercase();
    let is_capital = after.trim_start().chars().next().is_some_and(char::is_uppercase);
    ABBREVIATIONS.contains(&word.as_str()) || (word == "etc" && !is_capital)
}

/// Length of the indentation and the list marker before a line's text.
fn marker_length(text: &str) -> usize {
    let indent = text.len() - text.trim_start().len();
    let rest = &text[indent..];
    let marked = rest.strip_prefix(['•', '*', '+', '-']).or_else(|| numbered(rest));
    let behind = marked.filter(|behind| behind.starts_with(char::is_whitespace));
    behind.map_or(indent, |behind| text.len() - behind.len())
}

/// The text after `1.` or `1)`.
fn numbered(text: &str) -> Option<&str> {
    let behind = text.trim_start_matches(|found: char| found.is_ascii_digit());
    if behind.len() == text.len() { None } else { behind.strip_prefix(['.', ')']) }
}

/// Whether a line is an item of a printed list; `-` does not count, as it may begin an element of YAML.
fn is_item(text: &str) -> bool {
    let text = text.trim_start();
    let behind = text.strip_prefix('•').or_else(|| numbered(text));
    behind.is_some_and(|behind| behind.starts_with(char::is_whitespace))
}

/// Whether a line is `key:` or `key: value`, perhaps after `#` or `-`.
fn is_key(text: &str) -> bool {
    let word = text.trim_start_matches([' ', '#', '-']).split_whitespace().next().unwrap_or_default();
    word.strip_suffix(':').is_some_and(|key| !key.is_empty() && !key.contains(':'))
}

fn is_fence(text: &str) -> bool {
    text.trim_start().starts_with(FENCE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(document: &str) -> Vec<&str> {
        sentences(document).into_iter().map(|sentence| sentence.text).collect()
    }

    #[test]
    fn sentences_end_at_full_stops_before_a_space() {
        let table: [(&str, &[&str]); 9] = [
            ("One. Two! Three? four", &["One.", "Two!", "Three?", "four"]),
            (
                "The field spec.foo is 1.5 of v1.2. gardenlet reads it.",
                &["The field spec.foo is 1.5 of v1.2.", "gardenlet reads it."],
            ),
            (
                "As many (e.g. two) or more, i.e. all, vs. none.",
                &["As many (e.g. two) or more, i.e. all, vs. none."],
            ),
            (
                "Pods, etc. are kept. Nodes, etc. Then more.",
                &["Pods, etc. are kept.", "Nodes, etc.", "Then more."],
            ),
            ("(It is so.) “Or so.” And **so.** Done…", &["(It is so.)", "“Or so.”", "And **so.**", "Done…"]),
            ("As follows: a; b.", &["As follows: a; b."]),
            ("Two dots (.) or more (!) do.", &["Two dots (.) or more (!) do."]),
            ("# Title\n\n---\n\n…", &["# Title"]),
            ("one line\nanother line", &["one line", "another line"]),
        ];
        for (document, wanted) in table {
            assert_eq!(texts(document), wanted, "{document}");
        }
    }

    #[test]
    fn items_and_rows_are_sentences_without_their_markers() {
        let printed = "  • One. Two\n    • Three\n  1. Four\n\nNameMeaning\naone of: a\n";
        assert_eq!(texts(printed), ["One.", "Two", "Three", "Four", "NameMeaning", "aone of: a"]);
        let markdown = "- One\n* Two\n+ Three\n\n| a | b |\n|---|---|\n| c | d. e |\n";
        assert_eq!(texts(markdown), ["One", "Two", "Three", "| a | b |", "| c | d.", "e |"]);
    }

    #[test]
    fn code_is_one_sentence() {
        let printed = "Like:\n\nspec:\n- a: b. c\n  # more\n  1. then\n  x: y\n  z\n\nkey: alone";
        let code = "spec:\n- a: b. c\n  # more";
        assert_eq!(texts(printed), ["Like:", code, "then", "x: y\n  z", "key: alone"]);
        let markdown = "---\ntitle: x\n---\nText. It\nkey: is\n```yaml\na: b\n\nc: d\n```\nEnd.\n```\nx";
        let wanted = ["title: x", "Text.", "It", "key: is", "a: b\n\nc: d", "End.", "x"];
        assert_eq!(texts(markdown), wanted);
    }

    #[test]
    fn ranges_of_sentences_are_right_and_cover_everything() {
        let document = "  • Größe, “so”. Two…\r\n\r\na: b\r\n c: d\r\nLast! ";
        let found = sentences(document);
        for sentence in &found {
            assert_eq!(&document[sentence.range.clone()], sentence.text);
            assert_eq!(sentence.hash, hash(sentence.text));
        }
        let lines: Vec<usize> = found.iter().map(|sentence| sentence.line).collect();
        assert_eq!(lines, [1, 1, 3]);
        let all: String = found.iter().map(|sentence| normal(sentence.text)).collect();
        assert_eq!(all, normal(document));
    }
}
