//! The result of a run: counts, differences with the smallest sequences that show them, the exit code.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use serde_json::{Value, json};

use crate::known::KnownDifference;
use crate::play::UnknownDifference;
use crate::recorded;
use crate::request::Sequence;
use crate::server::ServerError;
use crate::tally::{Count, Demand, Tally};

/// The result of a run.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Generated requests that both servers answered.
    pub requests: usize,
    /// The seed of the generated requests.
    pub seed: u64,
    /// Generated sequences.
    pub sequences: usize,
    /// Recorded sequences that were sent first.
    pub recordings: usize,
    /// How long the run took.
    pub took: Duration,
    /// Counts of requests.
    pub tally: Tally,
    /// Conditions for the result to be meaningful.
    pub demands: Vec<Demand>,
    /// The known differences.
    pub known: &'static [KnownDifference],
    /// The unknown differences.
    pub found: Vec<CounterExample>,
    /// The number of sequences with further differences, which were not shrunk.
    pub not_shrunk: usize,
    /// Whether the run was stopped early.
    pub stopped: bool,
    /// The error that ended the run early, if any.
    pub failed: Option<ServerError>,
}

/// An unknown difference, and the smallest sequence that shows it.
#[derive(Clone, Debug)]
pub struct CounterExample {
    /// How many sequences showed the difference.
    pub count: usize,
    /// The difference.
    pub found: UnknownDifference,
    /// The sequence.
    pub sequence: Sequence,
    /// Whether the sequence showed the difference again after it was shrunk.
    pub steady: bool,
}

impl Outcome {
    /// 3: a server did not answer; 5: there is an unknown difference; 4: no request was sent; 6: the requests were not varied
    /// enough; else 0.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match () {
            () if self.failed.is_some() => 3,
            () if !self.found.is_empty() || self.not_shrunk > 0 => 5,
            () if self.requests == 0 => 4,
            () if !self.demands.iter().all(Demand::is_met) => 6,
            () => 0,
        }
    }

    /// Why it ends with its exit code, in words.
    #[must_use]
    pub fn cause(&self) -> String {
        let unmet = || self.demands.iter().filter(|demand| !demand.is_met()).count();
        match self.exit_code() {
            3 => "a server failed, which says nothing about the other".to_owned(),
            5 => format!("{} kinds of unknown differences", self.found.len() + self.not_shrunk),
            4 => "no request was sent".to_owned(),
            6 => format!("the requests were not varied enough: {} demands are not met", unmet()),
            _ => format!("{} requests have the same answers, or known differences", self.requests),
        }
    }

    /// The outcome as JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        let areas: Vec<Value> = self
            .tally
            .areas
            .iter()
            .map(|((resource, operation), count)| {
            json!({"resource": resource, "asked": operation, "count": count})
            })
            .collect();
        let known: Vec<Value> = self
            .known
            .iter()
            .map(|known| {
                let count = self.tally.known.get(known.name.as_str()).copied().unwrap_or_default();
                json!({"name": known.name, "reason": known.reason, "count": count})
            })
            .collect();
        let found: Vec<Value> = self
            .found
            .iter()
            .map(|example| {
                json!({
                    "count": example.count, "resource": example.found.exercise.resource,
                    "asked": example.found.exercise.operation(), "differences": example.found.differences,
                    "at": example.found.at, "sequence": example.sequence, "steady": example.steady,
                })
            })
            .collect();
        format!(
            "{:#}",
            json!({
                "requests": self.requests, "seed": self.seed, "sequences": self.sequences,
                "recordings": self.recordings, "seconds": self.took.as_secs_f64(), "total": self.tally.total(),
                "areas": areas, "reasons": self.tally.reasons, "demands": self.demands, "known": known,
                "found": found, "untold": self.not_shrunk, "stopped": self.stopped,
                "failed": self.failed.as_ref().map(ToString::to_string), "exitCode": self.exit_code(),
            })
        )
    }

    /// The outcome as text.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = format!(
            "fidelity  {} requests in {} sequences of seed {}, {} recorded sequences · {:.1} s\n\n",
            self.requests,
            self.sequences,
            self.seed,
            self.recordings,
            self.took.as_secs_f64()
        );
        table(&mut text, "operation", &self.tally.by(false));
        table(&mut text, "resource", &self.tally.by(true));
        self.write_summary(&mut text);
        text
    }

    fn write_summary(&self, text: &mut String) {
        let reasons: Vec<String> =
            self.tally.reasons.iter().map(|(reason, count)| format!("{reason} {count}")).collect();
        line(text, &format!("reasons of refusals   {}", reasons.join(", ")));
        for demand in &self.demands {
            let mark = if demand.is_met() { "✓" } else { "✗" };
            line(text, &format!("{mark} {}: {}, at least {} needed", demand.what, demand.got, demand.wanted));
        }
        for known in self.known {
            let count = self.tally.known.get(known.name.as_str()).copied().unwrap_or_default();
            line(text, &format!("~ known: {}, {count} times", known.name));
        }
        for example in &self.found {
            example.write_text(text);
        }
        if self.stopped || self.failed.is_some() {
            line(text, "\nincomplete: the run ended early, so this is a part of the result");
        }
        let total = self.tally.total();
        let different = self.found.iter().map(|example| example.count).sum::<usize>() + self.not_shrunk;
        line(
            text,
            &format!(
                "{} requests with equal answers, {} with known differences only, {different} sequences with unknown differences",
                total.same, total.known
            ),
        );
    }
}

impl CounterExample {
    fn write_text(&self, text: &mut String) {
        let exercise = &self.found.exercise;
        let times = if self.count == 1 { String::new() } else { format!(" ({} sequences)", self.count) };
        line(text, &format!("\n≠ {} {}{times}", exercise.operation(), exercise.resource));
        if !self.steady {
            line(text, "    did not occur again when the sequence was repeated");
        }
        for difference in &self.found.differences {
            line(text, &format!("    {}", difference.part));
            line(text, &format!("  -   {}    real", difference.real));
            line(text, &format!("  +   {}    embedded", difference.embedded));
        }
        text.push_str(&recorded::entry(&self.sequence));
    }
}

fn table(text: &mut String, head: &str, rows: &BTreeMap<&str, Count>) {
    line(
        text,
        &format!(
            "  {head:<42} {:>8} {:>8} {:>8} {:>6} {:>9}",
            "requests", "refused", "same", "known", "different"
        ),
    );
    for (name, count) in rows {
        let Count { requests, refused, same, known, different } = count;
        line(text, &format!("  {name:<42} {requests:>8} {refused:>8} {same:>8} {known:>6} {different:>9}"));
    }
    text.push('\n');
}

fn line(text: &mut String, line: &str) {
    writeln!(text, "{line}").expect("writing to memory does not fail");
}
