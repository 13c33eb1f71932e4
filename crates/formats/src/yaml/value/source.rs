//! The text as the parser is given it: where it does otherwise than Go's, letters stand for others.

use std::borrow::Cow;

/// The mark of an encoding. Go's parser takes it for a letter, ours skips it where a line begins.
const ENCODING: char = '\u{feff}';
/// So many bytes are read again at most: the parser begins anew after each text in brackets that ends in a colon.
const AGAIN: usize = 16 << 20;

pub(super) struct Source<'a> {
    pub(super) text: Cow<'a, str>,
    /// The last line, if the break behind it was not there.
    open_line: Option<&'a str>,
    /// Letters that stand for others.
    disguises: Vec<(char, char)>,
    /// How many bytes were read again.
    again: usize,
}

impl<'a> Source<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let mut source = Self { text: Cow::Borrowed(text), open_line: None, disguises: Vec::new(), again: 0 };
        if text.contains(ENCODING)
            && let Some(letter) = source.unused()
        {
            source.disguises.push((letter, ENCODING));
            source.text = Cow::Owned(text.replace(ENCODING, &letter.to_string()));
        }
        // The parser does not get over the end of a block text that lacks it.
        source.open_line = text.rsplit(is_break).next().filter(|last| !last.is_empty());
        if source.open_line.is_some() {
            source.text.to_mut().push('\n');
        }
        source
    }

    /// What stands from an offset on.
    pub(super) fn from(&self, offset: usize) -> &str {
        self.text.get(offset..).unwrap_or_default()
    }

    /// Lets another letter stand for the colon at an offset; whether that was possible.
    pub(super) fn disguise(&mut self, offset: usize) -> bool {
        self.again += offset;
        let known = self.disguises.iter().find(|(_, meant)| *meant == ':').map(|(letter, _)| *letter);
        let Some(letter) = known.or_else(|| self.unused()) else { return false };
        if self.again > AGAIN || !self.from(offset).starts_with(':') {
            return false;
        }
        if known.is_none() {
            self.disguises.push((letter, ':'));
        }
        self.text.to_mut().replace_range(offset..=offset, letter.encode_utf8(&mut [0; 4]));
        true
    }

    /// What a scalar that ends at an offset says.
    pub(super) fn meant(&self, mut value: String, is_block: bool, end: usize) -> String {
        if is_block && end + 1 >= self.text.len() && self.open_line.is_some_and(|line| is_added(line, &value))
        {
            value.pop();
        }
        for (letter, meant) in &self.disguises {
            if value.contains(*letter) {
                value = value.replace(*letter, meant.encode_utf8(&mut [0; 4]));
            }
        }
        value
    }

    /// A letter for private use that the text does not have.
    fn unused(&self) -> Option<char> {
        ('\u{e000}'..='\u{f8ff}').find(|letter| !self.text.contains(*letter))
    }
}

/// Whether the break at the end of a block text is the one behind the last line, which was not there. Where that line is
/// blank, it is if the text has the line itself, or an empty one.
fn is_added(last: &str, value: &str) -> bool {
    let Some(body) = value.strip_suffix('\n') else { return false };
    let is_blank = |line: &str| line.bytes().all(|byte| byte == b' ');
    !is_blank(last) || is_blank(body.rsplit('\n').next().unwrap_or_default())
}

/// The line breaks of YAML 1.1.
fn is_break(letter: char) -> bool {
    matches!(letter, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}
