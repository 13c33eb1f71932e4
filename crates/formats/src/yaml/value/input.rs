//! Prepares the text for the parser: where it differs from Go's parser, characters are replaced by placeholders.

use std::borrow::Cow;

/// The byte order mark. Go's parser treats it as a letter; this parser skips it at the beginning of a line.
const BYTE_ORDER_MARK: char = '\u{feff}';
/// Maximum number of bytes to parse again: parsing restarts after each text in brackets that ends with a colon.
const MAX_REPARSED: usize = 16 << 20;

pub(super) struct ParserInput<'a> {
    pub(super) text: Cow<'a, str>,
    /// The last line, if its line break was missing and therefore added.
    open_line: Option<&'a str>,
    /// Placeholders with the characters that they replace.
    placeholders: Vec<(char, char)>,
    /// Number of bytes parsed again.
    reparsed: usize,
}

impl<'a> ParserInput<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let mut input =
            Self { text: Cow::Borrowed(text), open_line: None, placeholders: Vec::new(), reparsed: 0 };
        if text.contains(BYTE_ORDER_MARK)
            && let Some(letter) = input.unused()
        {
            input.placeholders.push((letter, BYTE_ORDER_MARK));
            input.text = Cow::Owned(text.replace(BYTE_ORDER_MARK, &letter.to_string()));
        }
        // The parser fails at the end of a block scalar without a line break.
        input.open_line = text.rsplit(is_break).next().filter(|last| !last.is_empty());
        if input.open_line.is_some() {
            input.text.to_mut().push('\n');
        }
        input
    }

    /// The text from an offset on.
    pub(super) fn from(&self, offset: usize) -> &str {
        self.text.get(offset..).unwrap_or_default()
    }

    /// Replaces the colon at an offset by a placeholder; false if that is impossible.
    pub(super) fn replace_colon(&mut self, offset: usize) -> bool {
        self.reparsed += offset;
        let known =
            self.placeholders.iter().find(|(_, original)| *original == ':').map(|(letter, _)| *letter);
        let Some(letter) = known.or_else(|| self.unused()) else { return false };
        if self.reparsed > MAX_REPARSED || !self.from(offset).starts_with(':') {
            return false;
        }
        if known.is_none() {
            self.placeholders.push((letter, ':'));
        }
        self.text.to_mut().replace_range(offset..=offset, letter.encode_utf8(&mut [0; 4]));
        true
    }

    /// Replaces the escape of an apostrophe at an offset by the apostrophe; false if that is impossible.
    pub(super) fn replace_escaped_apostrophe(&mut self, offset: usize) -> bool {
        self.reparsed += offset;
        if self.reparsed > MAX_REPARSED || !self.from(offset).starts_with("\\'") {
            return false;
        }
        self.text.to_mut().remove(offset);
        true
    }

    /// Whether the text between two offsets, which is in double quotes, escapes a slash: YAML 1.2 does, Go's parser does not.
    pub(super) fn has_escaped_slash(&self, start: usize, end: usize) -> bool {
        let mut letters = self.text.get(start..end).unwrap_or_default().bytes();
        std::iter::from_fn(|| letters.by_ref().find(|letter| *letter == b'\\').and_then(|_| letters.next()))
            .any(|escaped| escaped == b'/')
    }

    /// Restores the original text of a scalar that ends at `end`.
    pub(super) fn restore(&self, mut value: String, is_block: bool, end: usize) -> String {
        if is_block && end + 1 >= self.text.len() && self.open_line.is_some_and(|line| is_added(line, &value))
        {
            value.pop();
        }
        for (letter, original) in &self.placeholders {
            if value.contains(*letter) {
                value = value.replace(*letter, original.encode_utf8(&mut [0; 4]));
            }
        }
        value
    }

    /// A private-use character that the text does not contain.
    fn unused(&self) -> Option<char> {
        ('\u{e000}'..='\u{f8ff}').find(|letter| !self.text.contains(*letter))
    }
}

/// Whether the line break at the end of a block scalar is the one that was added after the last line. If that line is
/// blank, this holds if the scalar ends with a blank line as well.
fn is_added(last: &str, value: &str) -> bool {
    let Some(body) = value.strip_suffix('\n') else { return false };
    let is_blank = |line: &str| line.bytes().all(|byte| byte == b' ');
    !is_blank(last) || is_blank(body.rsplit('\n').next().unwrap_or_default())
}

/// The line breaks of YAML 1.1.
fn is_break(letter: char) -> bool {
    matches!(letter, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}
