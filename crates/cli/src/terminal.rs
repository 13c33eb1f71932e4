//! Output for people: colours, failures with their causes, exit codes.

use std::io::{ErrorKind, IsTerminal, Write};
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

use conformance::render::{Style, Tone, View};
use conformance::report;

use crate::arguments::{ColorWhen, Output};
use crate::environment;

/// Renders a diagnostic with its source lines.
pub(crate) fn render_diagnostic(error: &dyn miette::Diagnostic) -> String {
    let mut text = String::new();
    let handler =
        miette::GraphicalReportHandler::new_themed(miette::GraphicalTheme::unicode_nocolor()).with_width(100);
    // Writing to a String cannot fail.
    let _ = handler.render_report(&mut text, error);
    text
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
        let width = environment::columns()
            .or_else(|| terminal_size::terminal_size().map(|(width, _)| usize::from(width.0)));
        let width = width.unwrap_or(110).clamp(80, 160);
        Self { colour, draws_progress, width, verbosity, lost: Mutex::default() }
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

    /// Prints to standard output. If that fails, [`Self::exit_code`] says so; but a reader that closed the pipe has read enough.
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

    /// Prints which outputs could not be written. Returns the exit code of a command that ends with `code`: 3 in that case, unless
    /// `code` is worse.
    pub(crate) fn exit_code(&self, code: u8) -> ExitCode {
        let lost = std::mem::take(&mut *self.lost.lock().unwrap_or_else(PoisonError::into_inner));
        for text in &lost {
            self.note(&format!("! {text}"));
        }
        let codes = if lost.is_empty() { vec![code] } else { vec![code, 3] };
        ExitCode::from(report::worst_exit_code(&codes))
    }

    /// Prints to standard error.
    #[expect(clippy::unused_self, reason = "callers print through the terminal, whatever printing needs")]
    pub(crate) fn note(&self, text: &str) {
        let mut err = std::io::stderr().lock();
        // If standard error is closed, there is no place to report it.
        let _ = writeln!(err, "{}", text.trim_end());
    }

    /// Prints a failure and returns its exit code.
    pub(crate) fn report_failure(&self, failure: &Failure) -> u8 {
        let mark = if failure.code == 3 { "!" } else { "error:" };
        let text = failure.text.trim_end();
        // Diagnostics of contracts are already rendered.
        let is_rendered = text.contains('\n') || text.starts_with("  ");
        self.note(&if is_rendered { text.to_owned() } else { format!("{mark} {text}") });
        failure.code
    }
}
