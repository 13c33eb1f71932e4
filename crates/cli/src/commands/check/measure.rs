//! How long namespaces take and how much memory, told on standard error.

use std::time::Instant;

use crate::terminal::{Telling, Terminal};

/// Namespaces after which progress is told where nothing can be drawn, and below which nothing is measured.
const MANY: usize = 1000;

/// What was checked so far.
pub(super) struct Measure<'a> {
    terminal: &'a Terminal,
    started: Instant,
    namespaces: usize,
    objects: usize,
}

impl<'a> Measure<'a> {
    pub(super) fn new(terminal: &'a Terminal) -> Self {
        Self { terminal, started: Instant::now(), namespaces: 0, objects: 0 }
    }

    /// Takes note of a namespace.
    pub(super) fn took(&mut self, objects: usize) {
        self.namespaces += 1;
        self.objects += objects;
        if self.namespaces.is_multiple_of(MANY) && !self.terminal.drawn {
            self.note();
        }
    }

    /// Tells the whole, where there was much, or where everything is told.
    pub(super) fn tell(&self) {
        if self.namespaces >= MANY || self.terminal.telling == Telling::Cases {
            self.note();
        }
    }

    fn note(&self) {
        if self.terminal.telling == Telling::Verdict {
            return;
        }
        let took = self.started.elapsed().as_secs_f64();
        let each = took * 1e3 / f64::from(u32::try_from(self.namespaces.max(1)).unwrap_or(u32::MAX));
        let memory = peak().map(|mebibytes| format!(", {mebibytes} MiB at most")).unwrap_or_default();
        let text = format!(
            "  {} namespaces, {} objects in {took:.1} s: {each:.2} ms each{memory}",
            self.namespaces, self.objects
        );
        self.terminal.note(&text);
    }
}

/// The most memory that the process had, where the system tells.
fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kibibytes / 1024)
}
