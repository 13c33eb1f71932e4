//! How long namespaces take and how much memory, told on standard error.

use std::time::{Duration, Instant};

use crate::terminal::{Telling, Terminal};

/// Namespaces after which progress is told where nothing can be drawn, and below which nothing is measured.
const MANY: usize = 1000;

/// What was checked so far.
pub(super) struct Measure<'a> {
    terminal: &'a Terminal,
    all: Span,
    /// Since progress was told last.
    last: Span,
    objects: usize,
}

/// Namespaces and when the first of them was taken up.
struct Span {
    started: Instant,
    namespaces: usize,
}

impl Span {
    fn new() -> Self {
        Self { started: Instant::now(), namespaces: 0 }
    }

    /// Milliseconds a namespace.
    fn each(&self) -> f64 {
        let namespaces = u32::try_from(self.namespaces.max(1)).unwrap_or(u32::MAX);
        self.started.elapsed().as_secs_f64() * 1e3 / f64::from(namespaces)
    }
}

impl<'a> Measure<'a> {
    pub(super) fn new(terminal: &'a Terminal) -> Self {
        Self { terminal, all: Span::new(), last: Span::new(), objects: 0 }
    }

    /// Takes note of which namespaces there are; what follows is their check.
    pub(super) fn found(&mut self, namespaces: usize) {
        let took = self.all.started.elapsed();
        if namespaces >= MANY && took >= Duration::from_secs(1) {
            self.note(&format!("  {namespaces} namespaces found in {:.1} s", took.as_secs_f64()));
        }
        (self.all, self.last) = (Span::new(), Span::new());
    }

    /// Takes note of a namespace.
    pub(super) fn took(&mut self, objects: usize) {
        self.all.namespaces += 1;
        self.last.namespaces += 1;
        self.objects += objects;
        if self.all.namespaces.is_multiple_of(MANY) && !self.terminal.drawn {
            self.tell_all();
            self.last = Span::new();
        }
    }

    /// Tells the whole, where there was much, or where everything is told.
    pub(super) fn tell(&self) {
        let is_told = self.all.namespaces.is_multiple_of(MANY) && !self.terminal.drawn;
        if self.terminal.telling == Telling::Cases || (self.all.namespaces >= MANY && !is_told) {
            self.tell_all();
        }
    }

    fn tell_all(&self) {
        let Span { started, namespaces } = &self.all;
        let took = started.elapsed().as_secs_f64();
        let last = if self.last.namespaces == MANY && *namespaces > MANY {
            format!(", {:.2} ms of the last {MANY}", self.last.each())
        } else {
            String::new()
        };
        let memory = peak().map(|mebibytes| format!("; {mebibytes} MiB at most")).unwrap_or_default();
        let each = self.all.each();
        self.note(&format!(
            "  {namespaces} namespaces, {} objects in {took:.1} s: {each:.2} ms each{last}{memory}",
            self.objects
        ));
    }

    fn note(&self, text: &str) {
        if self.terminal.telling != Telling::Verdict {
            self.terminal.note(text);
        }
    }
}

/// The most memory that the process had, where the system tells.
fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kibibytes / 1024)
}
