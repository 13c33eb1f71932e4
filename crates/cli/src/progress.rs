//! Progress of a run, on standard error: a bar on a terminal, nothing elsewhere; with -v a line per case.

use std::time::Duration;

use conformance::render;
use conformance::run::Event;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::terminal::{Terminal, Verbosity};

/// Shows the progress of a run.
pub(crate) struct Progress<'a> {
    terminal: &'a Terminal,
    bar: ProgressBar,
}

impl<'a> Progress<'a> {
    /// Draws a bar only on a terminal, and not with `--quiet`.
    pub(crate) fn new(terminal: &'a Terminal) -> Self {
        let draws = terminal.draws_progress && terminal.verbosity != Verbosity::Quiet;
        let target = if draws { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(0), target);
        let style = ProgressStyle::with_template("  {bar:30} {pos}/{len} {msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.enable_steady_tick(Duration::from_millis(200));
        Self { terminal, bar }
    }

    /// Shows one event.
    pub(crate) fn show(&self, event: &Event<'_>) {
        match *event {
            Event::Planned(cases) => self.bar.inc_length(cases as u64),
            Event::Case { contract, id, status } => {
                if self.terminal.verbosity == Verbosity::Verbose {
                    self.bar.suspend(|| self.terminal.note(&format!("  {} {id}", render::mark(status))));
                }
                self.bar.set_message(contract.to_owned());
                self.bar.inc(1);
            }
        }
    }

    /// Sets the number of inputs of the whole run.
    pub(crate) fn set_total(&self, inputs: usize) {
        self.bar.set_length(inputs as u64);
    }

    /// Counts inputs that are done; `subject` is the webhook, controller or namespace that they belong to.
    pub(crate) fn advance(&self, subject: &str, inputs: usize) {
        self.bar.set_message(subject.to_owned());
        self.bar.inc(inputs as u64);
    }

    /// Removes the bar.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
