//! How text is shown: width, level of detail, and colours.

/// The meaning of a text; the words never depend on its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// Holds.
    Good,
    /// Broken.
    Bad,
    /// Needs attention.
    Warn,
    /// Less important.
    Faint,
    /// A heading.
    Strong,
}

/// Colours text.
pub trait Style {
    /// The text, with or without colour.
    fn paint(&self, tone: Tone, text: &str) -> String;
}

/// No colours.
#[derive(Clone, Copy, Debug, Default)]
pub struct Plain;

impl Style for Plain {
    fn paint(&self, _: Tone, text: &str) -> String {
        text.to_owned()
    }
}

/// How a report is shown.
#[derive(Clone, Copy)]
pub struct View<'a> {
    /// Columns, at least 80.
    pub width: usize,
    /// The verdict only.
    pub quiet: bool,
    /// Every case.
    pub verbose: bool,
    /// Colours.
    pub style: &'a dyn Style,
    /// Path of the HTML report for the last line; `None`: no such line.
    pub report: Option<&'a str>,
}

/// The text on lines of this width: the first begins with `first`, the others with `others`. Lines end at spaces only, so that
/// names and paths stay whole.
#[must_use]
pub fn wrap(text: &str, width: usize, first: &str, others: &str) -> String {
    let options = textwrap::Options::new(width).initial_indent(first).subsequent_indent(others);
    let options = options.word_separator(textwrap::WordSeparator::AsciiSpace);
    textwrap::fill(text, options.word_splitter(textwrap::WordSplitter::NoHyphenation).break_words(false))
}

impl View<'_> {
    /// The text, with or without colour.
    pub(crate) fn paint(&self, tone: Tone, text: &str) -> String {
        self.style.paint(tone, text)
    }

    /// The text on lines of the view: the first begins with this, the others with that.
    pub(crate) fn wrap(&self, text: &str, first: &str, others: &str) -> String {
        wrap(text, self.width, first, others)
    }

    /// The text shortened to one line of the view, with `…` at its end.
    pub(crate) fn cut(&self, text: &str, indent: usize) -> String {
        let room = self.width.saturating_sub(indent).max(20);
        if text.char_indices().nth(room).is_none() {
            return text.to_owned();
        }
        let end = text.char_indices().nth(room - 1).map_or(text.len(), |(end, _)| end);
        format!("{}…", &text[..end])
    }
}
