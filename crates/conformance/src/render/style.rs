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

impl View<'_> {
    /// The text, with or without colour.
    pub(crate) fn paint(&self, tone: Tone, text: &str) -> String {
        self.style.paint(tone, text)
    }

    /// The text in lines that fit beside an indentation, broken at blanks. A word that is longer than a line is broken, unless it
    /// is a file with a line, which stays whole.
    pub(crate) fn wrap(&self, text: &str, indent: usize) -> Vec<String> {
        let room = self.width.saturating_sub(indent).max(20);
        let words = text.trim_start_matches(' ');
        // Blanks at the beginning are the indentation of a line of a text.
        let mut line = " ".repeat((text.len() - words.len()).min(room / 2));
        let mut lines = Vec::new();
        let mut is_empty = true;
        for word in words.split(' ') {
            let used = line.chars().count() + usize::from(!is_empty);
            let length = word.chars().count();
            let mut rest = word;
            if !is_empty && used + length > room {
                let breaks = length > room && !is_place(word) && used < room;
                if breaks {
                    let end = word.char_indices().nth(room - used).map_or(word.len(), |(end, _)| end);
                    line.push(' ');
                    line.push_str(&word[..end]);
                    rest = &word[end..];
                }
                lines.push(std::mem::take(&mut line));
            } else if !is_empty {
                line.push(' ');
            }
            while rest.chars().count() + line.chars().count() > room && !is_place(rest) {
                let left = room - line.chars().count();
                let end = rest.char_indices().nth(left).map_or(rest.len(), |(end, _)| end);
                line.push_str(&rest[..end]);
                lines.push(std::mem::take(&mut line));
                rest = &rest[end..];
            }
            line.push_str(rest);
            is_empty = false;
        }
        lines.push(line);
        lines
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
            assert_eq!(view.wrap(text, 0), want, "{text}");
        }
    }
}
