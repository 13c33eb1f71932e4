//! What came out of a run: numbers by area, differences with the smallest sequences that show them, the exit code.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use serde_json::{Value, json};

use crate::known::Known;
use crate::play::Found;
use crate::recorded;
use crate::request::Sequence;
use crate::server::ServerError;
use crate::tally::{Count, Demand, Tally};

/// What came out of a run.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Generated requests that both answered.
    pub requests: usize,
    /// What they were generated from.
    pub seed: u64,
    /// Generated sequences.
    pub sequences: usize,
    /// Recorded sequences that were sent first.
    pub recordings: usize,
    /// How long all took.
    pub took: Duration,
    /// What was counted.
    pub tally: Tally,
    /// What must have been counted.
    pub demands: Vec<Demand>,
    /// Differences that are known.
    pub known: &'static [Known],
    /// Differences that are not.
    pub found: Vec<CounterExample>,
    /// Sequences with differences that were not looked into any more.
    pub untold: usize,
    /// Whether it was stopped before its end.
    pub stopped: bool,
    /// Why it came to no end by itself, if so.
    pub failed: Option<ServerError>,
}

/// A difference that nobody knows, and the smallest sequence that shows it.
#[derive(Clone, Debug)]
pub struct CounterExample {
    /// How many sequences showed it.
    pub count: usize,
    /// The difference.
    pub found: Found,
    /// The sequence.
    pub sequence: Sequence,
    /// Whether it showed it once more at the end.
    pub steady: bool,
}

impl Outcome {
    /// 3: a server did not answer; 5: there is a difference that nobody knows; 4: nothing was asked; 6: the requests were
    /// too tame; else 0.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match () {
            () if self.failed.is_some() => 3,
            () if !self.found.is_empty() || self.untold > 0 => 5,
            () if self.requests == 0 => 4,
            () if !self.demands.iter().all(Demand::is_met) => 6,
            () => 0,
        }
    }

    /// As JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        let areas: Vec<Value> = self
            .tally
            .areas
            .iter()
            .map(|((resource, asked), count)| json!({"resource": resource, "asked": asked, "count": count}))
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
                    "asked": example.found.exercise.words(), "differences": example.found.differences,
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
                "found": found, "untold": self.untold, "stopped": self.stopped,
                "failed": self.failed.as_ref().map(ToString::to_string), "exitCode": self.exit_code(),
            })
        )
    }

    /// For people.
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
        table(&mut text, "asked", &self.tally.by(false));
        table(&mut text, "kind", &self.tally.by(true));
        self.closing(&mut text);
        text
    }

    fn closing(&self, text: &mut String) {
        let reasons: Vec<String> =
            self.tally.reasons.iter().map(|(reason, count)| format!("{reason} {count}")).collect();
        line(text, &format!("reasons   {}", reasons.join(", ")));
        for demand in &self.demands {
            let mark = if demand.is_met() { "✓" } else { "✗" };
            line(text, &format!("{mark} {} {}, at least {}", demand.got, demand.what, demand.wanted));
        }
        for known in self.known {
            let count = self.tally.known.get(known.name.as_str()).copied().unwrap_or_default();
            line(text, &format!("~ known: {}, {count} times", known.name));
        }
        for example in &self.found {
            example.tell(text);
        }
        if self.stopped || self.failed.is_some() {
            line(text, "\nnot all was asked: this is what was seen till then");
        }
        let total = self.tally.total();
        let different = self.found.iter().map(|example| example.count).sum::<usize>() + self.untold;
        line(
            text,
            &format!(
                "{} requests the same, {} but for what is known, {different} unexplained differences",
                total.same, total.known
            ),
        );
    }
}

impl CounterExample {
    fn tell(&self, text: &mut String) {
        let exercise = &self.found.exercise;
        let times = if self.count == 1 { String::new() } else { format!(" ({} sequences)", self.count) };
        line(text, &format!("\n≠ {} {}{times}", exercise.words(), exercise.resource));
        if !self.steady {
            line(text, "    not seen again when it was asked once more");
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
