//! How a text is shown: width, how much, and colours where they are wanted.

/// What a piece of text means; the words never depend on its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// Holds.
    Good,
    /// Broken.
    Bad,
    /// Wants a look.
    Warn,
    /// Beside the point.
    Faint,
    /// A heading.
    Strong,
}

/// Gives a text its colour.
pub trait Style {
    /// The text, painted or as it is.
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
    /// Where the HTML report lies, for the last line; `None`: no such line.
    pub report: Option<&'a str>,
}

impl View<'_> {
    /// The text, painted or as it is.
    pub(crate) fn paint(&self, tone: Tone, text: &str) -> String {
        self.style.paint(tone, text)
    }

    /// The text on one line of the view, its end cut off with `…`.
    pub(crate) fn cut(&self, text: &str, indent: usize) -> String {
        let room = self.width.saturating_sub(indent).max(20);
        if text.char_indices().nth(room).is_none() {
            return text.to_owned();
        }
        let end = text.char_indices().nth(room - 1).map_or(text.len(), |(end, _)| end);
        format!("{}…", &text[..end])
    }
}
