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

impl Tone {
    /// The class of our pages' style.
    pub(crate) fn class(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Bad => "bad",
            Self::Warn => "warn",
            Self::Faint => "faint",
            Self::Strong => "",
        }
    }
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

    /// The text in lines that fit beside an indentation, broken at blanks. A word that is longer than a line is broken, unless
    /// there is a file with a line, which stays whole.
    pub(crate) fn lines_beside(&self, text: &str, indent: usize) -> Vec<String> {
        let options = textwrap::Options::new(self.width.saturating_sub(indent).max(20))
            .word_separator(textwrap::WordSeparator::AsciiSpace)
            .word_splitter(textwrap::WordSplitter::NoHyphenation)
            .break_words(!text.split(' ').any(is_place));
        textwrap::wrap(text, options).into_iter().map(std::borrow::Cow::into_owned).collect()
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

/// Whether a word is a file with a line: `contracts/a.yaml:41`.
fn is_place(word: &str) -> bool {
    let word = word.trim_end_matches([',', ';', ')', '.']);
    word.rsplit_once(':').is_some_and(|(file, line)| file.contains('.') && line.parse::<u32>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_wraps_at_blanks_and_places_stay_whole() {
        let view = View { width: 30, quiet: false, verbose: false, style: &Plain, report: None };
        let table = [
            ("a b", vec!["a b"]),
            ("one two three four five six seven", vec!["one two three four five six", "seven"]),
            ("", vec![""]),
            (
                "see contracts/controlplane/webhooks/kubelet-flags.yaml:41, please",
                vec!["see", "contracts/controlplane/webhooks/kubelet-flags.yaml:41,", "please"],
            ),
            (
                "--cipher-suites=AAAAAAAAAAAAAAAAAAAAAAAAAAAAA end",
                vec!["--cipher-suites=AAAAAAAAAAAAAA", "AAAAAAAAAAAAAAA end"],
            ),
        ];
        for (text, want) in table {
            assert_eq!(view.lines_beside(text, 0), want, "{text}");
        }
    }
}
