//! What a person sees: colours only where wanted, failures with their causes, exit codes.

use std::io::{IsTerminal, Write};
use std::process::ExitCode;

use conformance::render::{Style, Tone, View};

use crate::arguments::{Output, When};
use crate::environment;

/// A diagnostic with its source lines.
pub(crate) fn drawn(error: &dyn miette::Diagnostic) -> String {
    let mut text = String::new();
    let handler =
        miette::GraphicalReportHandler::new_themed(miette::GraphicalTheme::unicode_nocolor()).with_width(100);
    // Writing to a String cannot fail.
    let _ = handler.render_report(&mut text, error);
    text
}

/// How this process talks.
pub(crate) struct Terminal {
    /// Whether colours are used.
    pub(crate) colour: bool,
    /// Whether progress may be drawn and redrawn.
    pub(crate) drawn: bool,
    /// Columns to fill, at least 80.
    pub(crate) width: usize,
    /// How much is told.
    pub(crate) telling: Telling,
}

/// How much is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Telling {
    /// Only the verdict.
    Verdict,
    /// A line per contract, and what needs attention.
    Contracts,
    /// Every case.
    Cases,
}

/// A failure that ends the process with a code of its own.
#[derive(Debug)]
pub(crate) struct Failure {
    /// The exit code.
    pub(crate) code: u8,
    /// What went wrong, ready to be printed.
    pub(crate) text: String,
}

impl Failure {
    /// A mistake in arguments, contracts or target files.
    pub(crate) fn usage(text: impl Into<String>) -> Self {
        Self { code: 2, text: text.into() }
    }

    /// What is wrong with a contract or another file of ours, drawn with file, line, caret and remedy.
    #[expect(clippy::needless_pass_by_value, reason = "it is what `map_err` hands over")]
    pub(crate) fn diagnostic(error: impl miette::Diagnostic) -> Self {
        Self { code: 2, text: drawn(&error) }
    }

    /// A signal came before the first case was asked.
    pub(crate) fn interrupted(signal: u8) -> Self {
        Self { code: 128 + signal, text: "interrupted before the first case was asked".to_owned() }
    }

    /// Something around the target broke; says nothing about the target.
    pub(crate) fn environment(text: impl Into<String>) -> Self {
        Self { code: 3, text: text.into() }
    }
}

impl Style for Terminal {
    fn paint(&self, tone: Tone, text: &str) -> String {
        if !self.colour {
            return text.to_owned();
        }
        let code = match tone {
            Tone::Good => "32",
            Tone::Bad => "31",
            Tone::Warn => "33",
            Tone::Faint => "2",
            Tone::Strong => "1",
        };
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        let causes: Vec<String> = error.chain().map(ToString::to_string).collect();
        Self::environment(causes.join(": "))
    }
}

impl Terminal {
    /// Looks at the output streams, the environment and the flags.
    pub(crate) fn new(output: &Output) -> Self {
        let terminal = std::io::stdout().is_terminal();
        let telling = match (output.quiet, output.verbose) {
            (true, _) => Telling::Verdict,
            (_, true) => Telling::Cases,
            _ => Telling::Contracts,
        };
        let colour = match output.color {
            When::Always => true,
            When::Never => false,
            When::Auto => terminal && !environment::is_colourless(),
        };
        let drawn = std::io::stderr().is_terminal() && !environment::is_ci();
        let width = environment::columns()
            .or_else(|| terminal_size::terminal_size().map(|(width, _)| usize::from(width.0)));
        Self { colour, drawn, width: width.unwrap_or(110).clamp(80, 160), telling }
    }

    /// How reports are shown here; `page` is where the HTML report lies.
    pub(crate) fn view<'a>(&'a self, page: Option<&'a str>) -> View<'a> {
        View {
            width: self.width,
            quiet: self.telling == Telling::Verdict,
            verbose: self.telling == Telling::Cases,
            style: self,
            report: page,
        }
    }

    /// Prints to standard output; a closed pipe ends the printing, not the run.
    #[expect(clippy::unused_self, reason = "printing is asked of the terminal, whatever it needs for it")]
    pub(crate) fn print(&self, text: &str) {
        let mut out = std::io::stdout().lock();
        let newline = if text.ends_with('\n') || text.is_empty() { "" } else { "\n" };
        // Whoever closed the pipe has read enough.
        let _ = write!(out, "{text}{newline}").and_then(|()| out.flush());
    }

    /// Prints to standard error.
    #[expect(clippy::unused_self, reason = "printing is asked of the terminal, whatever it needs for it")]
    pub(crate) fn note(&self, text: &str) {
        let mut err = std::io::stderr().lock();
        // Nothing can be told if standard error is closed.
        let _ = writeln!(err, "{}", text.trim_end());
    }

    /// Prints a failure and gives its exit code.
    pub(crate) fn failure(&self, failure: &Failure) -> ExitCode {
        let mark = if failure.code == 3 { "!" } else { "error:" };
        let text = failure.text.trim_end();
        // Diagnostics of contracts come drawn.
        let drawn = text.contains('\n') || text.starts_with("  ");
        self.note(&if drawn { text.to_owned() } else { format!("{mark} {text}") });
        ExitCode::from(failure.code)
    }
}
