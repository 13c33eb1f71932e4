//! Output for people: colours, failures with their causes, exit codes.

use std::io::{ErrorKind, IsTerminal, Write};
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

use conformance::render::{self, Style, Tone, View};
use conformance::report;

use crate::arguments::{ColorWhen, Output};
use crate::ending::Ending;
use crate::environment;

/// Below the first word of the last line.
const EXIT_INDENT: &str = "        ";

/// Renders a diagnostic with its source lines.
pub(crate) fn render_diagnostic(error: &dyn miette::Diagnostic) -> String {
    let mut text = String::new();
    let handler = miette::GraphicalReportHandler::new_themed(miette::GraphicalTheme::unicode_nocolor());
    // Lines end at blanks only, so that names, paths and text to copy stay whole.
    let handler = handler.with_width(width()).with_break_words(false);
    let handler = handler.with_word_separator(textwrap::WordSeparator::AsciiSpace);
    let handler = handler.with_word_splitter(textwrap::WordSplitter::NoHyphenation);
    // Writing to a String cannot fail.
    let _ = handler.render_report(&mut text, error);
    text
}

/// Columns to fill: those of the terminal, between 80 and 160; 110 without one.
fn width() -> usize {
    let of_terminal = || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    environment::columns().or_else(of_terminal).unwrap_or(110).clamp(80, 160)
}

/// Standard output and standard error of this process.
pub(crate) struct Terminal {
    /// Whether the output has colours.
    pub(crate) colour: bool,
    /// Whether standard error can show a progress bar.
    pub(crate) draws_progress: bool,
    /// Columns to fill, at least 80.
    pub(crate) width: usize,
    /// How much is printed.
    pub(crate) verbosity: Verbosity,
    /// Outputs that could not be written. The command goes on, so that what it found reaches the other outputs.
    lost: Mutex<Vec<String>>,
}

/// How much is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verbosity {
    /// Only the verdict (`--quiet`).
    Quiet,
    /// A line per contract, and what needs attention.
    Normal,
    /// Every case (`--verbose`).
    Verbose,
}

/// A failure that ends the process with its own exit code.
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

    /// An error in a contract or another file of ours, rendered with file, line, caret and remedy.
    #[expect(clippy::needless_pass_by_value, reason = "`map_err` passes the error by value")]
    pub(crate) fn diagnostic(error: impl miette::Diagnostic) -> Self {
        Self { code: 2, text: render_diagnostic(&error) }
    }

    /// A failure with this exit code, described by an error and its causes.
    pub(crate) fn from_cause(code: u8, error: impl Into<anyhow::Error>) -> Self {
        Self { code, text: format!("{:#}", error.into()) }
    }

    /// A signal arrived before the first case ran.
    pub(crate) fn interrupted(signal: u8) -> Self {
        Self { code: 128 + signal, text: "interrupted before the first case ran".to_owned() }
    }

    /// The environment of the target failed, which says nothing about the target.
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
    /// Derives the settings from the output streams, the environment and the flags.
    pub(crate) fn new(output: &Output) -> Self {
        let terminal = std::io::stdout().is_terminal();
        let verbosity = match (output.quiet, output.verbose) {
            (true, _) => Verbosity::Quiet,
            (_, true) => Verbosity::Verbose,
            _ => Verbosity::Normal,
        };
        let colour = match output.color {
            ColorWhen::Always => true,
            ColorWhen::Never => false,
            ColorWhen::Auto => terminal && !environment::is_colourless(),
        };
        let draws_progress = std::io::stderr().is_terminal() && !environment::is_ci();
        Self { colour, draws_progress, width: width(), verbosity, lost: Mutex::default() }
    }

    /// How to render reports for this terminal; `page` is the path of the HTML report.
    pub(crate) fn view<'a>(&'a self, page: Option<&'a str>) -> View<'a> {
        View {
            width: self.width,
            quiet: self.verbosity == Verbosity::Quiet,
            verbose: self.verbosity == Verbosity::Verbose,
            style: self,
            report: page,
        }
    }

    /// Prints to standard output. If that fails, [`Self::end`] reports it, unless a reader closed the pipe.
    pub(crate) fn print(&self, text: &str) {
        let mut out = std::io::stdout().lock();
        let newline = if text.ends_with('\n') || text.is_empty() { "" } else { "\n" };
        match write!(out, "{text}{newline}").and_then(|()| out.flush()) {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => {
                self.lose(format!("failed to write to standard output: {error}"));
            }
            _ => {}
        }
    }

    /// Notes that an output could not be written, once for each cause.
    pub(crate) fn lose(&self, text: String) {
        let mut lost = self.lost.lock().unwrap_or_else(PoisonError::into_inner);
        if !lost.contains(&text) {
            lost.push(text);
        }
    }

    /// Notes the failure of an output that is not the only one: the command goes on.
    pub(crate) fn lose_if_failed(&self, written: Result<(), Failure>) {
        if let Err(failure) = written {
            self.lose(failure.text);
        }
    }

    /// Prints which outputs could not be written, and the last line: exit code and cause. An output that is lost makes the code
    /// 3, unless the command's is worse.
    pub(crate) fn end(&self, ending: &Ending) -> ExitCode {
        let lost = std::mem::take(&mut *self.lost.lock().unwrap_or_else(PoisonError::into_inner));
        for text in &lost {
            self.note(&format!("! {text}"));
        }
        let of_loss = lost.first().map(|text| Ending { is_for_programs: true, ..Ending::new(3, text) });
        let ending = match &of_loss {
            Some(of_loss) if report::worst_exit_code(&[ending.code, 3]) == 3 && ending.code != 3 => of_loss,
            _ => ending,
        };
        self.print_ending(ending);
        // The last line itself may be what cannot be written.
        let is_lost = !self.lost.lock().unwrap_or_else(PoisonError::into_inner).is_empty();
        ExitCode::from(if is_lost { report::worst_exit_code(&[ending.code, 3]) } else { ending.code })
    }

    /// Prints the last line: exit code and cause.
    pub(crate) fn print_ending(&self, ending: &Ending) {
        if ending.is_done() && self.verbosity == Verbosity::Quiet {
            return;
        }
        let Some(line) = ending.line() else { return };
        let line = self.wrap(&line, EXIT_INDENT);
        if ending.is_for_programs { self.note(&line) } else { self.print(&line) }
    }

    /// The text on lines of the terminal's width; lines after the first are indented by this.
    pub(crate) fn wrap(&self, text: &str, indent: &str) -> String {
        render::wrap(text, self.width, "", indent)
    }

    /// Prints to standard error.
    #[expect(clippy::unused_self, reason = "callers print through the terminal, whatever printing needs")]
    pub(crate) fn note(&self, text: &str) {
        let mut err = std::io::stderr().lock();
        // If standard error is closed, there is no place to report it.
        let _ = writeln!(err, "{}", text.trim_end());
    }

    /// Prints a failure and returns the end of the command.
    pub(crate) fn report_failure(&self, failure: &Failure) -> Ending {
        let mark = if failure.code == 3 { "!" } else { "error:" };
        let text = failure.text.trim_end();
        // Diagnostics of contracts are already rendered.
        let is_rendered = text.contains('\n') || text.starts_with("  ");
        self.note(&if is_rendered { text.to_owned() } else { format!("{mark} {text}") });
        Ending::of_failure(failure.code)
    }
}
