//! Progress of a run, on standard error: a bar on a terminal, nothing elsewhere; with -v every case is named.

use std::time::Duration;

use conformance::render;
use conformance::run::Event;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::terminal::{Telling, Terminal};

/// Shows events as they come.
pub(crate) struct Progress<'a> {
    terminal: &'a Terminal,
    bar: ProgressBar,
}

impl<'a> Progress<'a> {
    /// Draws only where drawing is possible and wanted.
    pub(crate) fn new(terminal: &'a Terminal) -> Self {
        let wanted = terminal.drawn && terminal.telling != Telling::Verdict;
        let target = if wanted { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(0), target);
        let style = ProgressStyle::with_template("  {bar:30} {pos}/{len} {msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.enable_steady_tick(Duration::from_millis(200));
        Self { terminal, bar }
    }

    /// Takes one event.
    pub(crate) fn show(&self, event: &Event<'_>) {
        match *event {
            Event::Planned(cases) => self.bar.inc_length(cases as u64),
            Event::Case { contract, id, status } => {
                if self.terminal.telling == Telling::Cases {
                    self.bar.suspend(|| self.terminal.note(&format!("  {} {id}", render::mark(status))));
                }
                self.bar.set_message(contract.to_owned());
                self.bar.inc(1);
            }
        }
    }

    /// So many inputs are to come.
    pub(crate) fn expect(&self, inputs: usize) {
        self.bar.set_length(inputs as u64);
    }

    /// So many inputs of a webhook were asked.
    pub(crate) fn advance(&self, webhook: &str, inputs: usize) {
        self.bar.set_message(webhook.to_owned());
        self.bar.inc(inputs as u64);
    }

    /// Leaves nothing behind.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
