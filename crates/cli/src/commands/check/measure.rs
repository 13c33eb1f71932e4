//! Measures time and memory per namespace, and prints them to standard error.

use std::time::{Duration, Instant};

use crate::terminal::{Terminal, Verbosity};

/// Prints progress after so many namespaces if there is no progress bar; prints no summary for fewer.
const INTERVAL: usize = 1000;

/// Counts what was checked so far.
pub(super) struct Measure<'a> {
    terminal: &'a Terminal,
    total: Span,
    /// Since progress was printed last.
    interval: Span,
    objects: usize,
}

/// A number of namespaces and the start of the first check.
struct Span {
    started: Instant,
    namespaces: usize,
}

impl Span {
    fn new() -> Self {
        Self { started: Instant::now(), namespaces: 0 }
    }

    /// Milliseconds per namespace.
    fn mean(&self) -> f64 {
        let namespaces = u32::try_from(self.namespaces.max(1)).unwrap_or(u32::MAX);
        self.started.elapsed().as_secs_f64() * 1e3 / f64::from(namespaces)
    }
}

impl<'a> Measure<'a> {
    pub(super) fn new(terminal: &'a Terminal) -> Self {
        Self { terminal, total: Span::new(), interval: Span::new(), objects: 0 }
    }

    /// Called when the number of namespaces is known, before the first check.
    pub(super) fn start_checks(&mut self, namespaces: usize) {
        let took = self.total.started.elapsed();
        if namespaces >= INTERVAL && took >= Duration::from_secs(1) {
            self.note(&format!("  found {namespaces} namespaces in {:.1} s", took.as_secs_f64()));
        }
        (self.total, self.interval) = (Span::new(), Span::new());
    }

    /// Counts a checked namespace.
    pub(super) fn count_namespace(&mut self, objects: usize) {
        self.total.namespaces += 1;
        self.interval.namespaces += 1;
        self.objects += objects;
        if self.total.namespaces.is_multiple_of(INTERVAL) && !self.terminal.draws_progress {
            self.print();
            self.interval = Span::new();
        }
    }

    /// Prints a summary for many namespaces, or with `--verbose`.
    pub(super) fn finish(&self) {
        let is_printed = self.total.namespaces.is_multiple_of(INTERVAL) && !self.terminal.draws_progress;
        if self.terminal.verbosity == Verbosity::Verbose || (self.total.namespaces >= INTERVAL && !is_printed)
        {
            self.print();
        }
    }

    fn print(&self) {
        let Span { started, namespaces } = &self.total;
        let took = started.elapsed().as_secs_f64();
        let last = if self.interval.namespaces == INTERVAL && *namespaces > INTERVAL {
            format!(", {:.2} ms each of the last {INTERVAL}", self.interval.mean())
        } else {
            String::new()
        };
        let memory = peak_memory().map(|mebibytes| format!("; {mebibytes} MiB at most")).unwrap_or_default();
        let mean = self.total.mean();
        self.note(&format!(
            "  checked {namespaces} namespaces, {} objects in {took:.1} s: {mean:.2} ms each{last}{memory}",
            self.objects
        ));
    }

    fn note(&self, text: &str) {
        if self.terminal.verbosity != Verbosity::Quiet {
            self.terminal.note(text);
        }
    }
}

/// Peak memory of the process in MiB, on systems that have `/proc`.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kibibytes / 1024)
}
