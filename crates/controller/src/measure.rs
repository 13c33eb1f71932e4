//! Measurements of controllers, under the names of controller-runtime.

use std::sync::Arc;
use std::time::Duration;

use formats::exposition::{Family, Histogram, Kind, Reading, Sample};
use parking_lot::Mutex;

/// Seconds, from 5 ms to a minute.
const BOUNDS: &[f64] = &[
    0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.25,
    1.5, 1.75, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 15.0, 20.0, 25.0, 30.0, 40.0,
    50.0, 60.0,
];

/// The result of a reconciliation.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ReconcileResult {
    Error,
    Requeue,
    RequeueAfter,
    Success,
}

impl ReconcileResult {
    /// In the order of the variants.
    const LABELS: [&str; 4] = ["error", "requeue", "requeue_after", "success"];
}

/// Measurements of one controller.
#[derive(Debug)]
pub(crate) struct Measured {
    name: String,
    workers: usize,
    counts: Mutex<ReconcileCounts>,
}

#[derive(Debug)]
struct ReconcileCounts {
    results: [u64; 4],
    panics: u64,
    active: u64,
    time: Histogram,
}

/// Counts a worker as busy until dropped.
#[derive(Debug)]
pub(crate) struct Busy(Arc<Measured>);

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.counts.lock().active -= 1;
    }
}

impl Measured {
    pub(crate) fn new(name: String, workers: usize) -> Self {
        let counts = ReconcileCounts { results: [0; 4], panics: 0, active: 0, time: Histogram::new(BOUNDS) };
        Self { name, workers, counts: Mutex::new(counts) }
    }

    /// Marks a worker as busy.
    pub(crate) fn busy(self: &Arc<Self>) -> Busy {
        self.counts.lock().active += 1;
        Busy(self.clone())
    }

    pub(crate) fn reconciled(&self, result: ReconcileResult, took: Duration) {
        let mut counts = self.counts.lock();
        counts.results[result as usize] += 1;
        counts.time.observe(took.as_secs_f64());
    }

    pub(crate) fn panicked(&self) {
        self.counts.lock().panics += 1;
    }

    /// `controller_runtime_*`, labelled with the controller's name.
    #[expect(clippy::cast_precision_loss, reason = "Prometheus counts in floating point")]
    pub(crate) fn families(&self) -> Vec<Family> {
        let counts = self.counts.lock();
        let total = ReconcileResult::LABELS.iter().zip(counts.results).map(|(label, count)| Sample {
            labels: vec![("controller", self.name.clone()), ("result", (*label).to_owned())],
            reading: Reading::Number(count as f64),
        });
        let total = Family {
            name: "controller_runtime_reconcile_total",
            help: "Total number of reconciliations per controller",
            kind: Kind::Counter,
            samples: total.collect(),
        };
        let time = Family {
            name: "controller_runtime_reconcile_time_seconds",
            help: "Length of time per reconciliation per controller",
            kind: Kind::Histogram,
            samples: vec![self.sample(counts.time.reading())],
        };
        [total, time].into_iter().chain(self.numbers(&counts)).collect()
    }

    #[expect(clippy::cast_precision_loss, reason = "Prometheus counts in floating point")]
    fn numbers(&self, counts: &ReconcileCounts) -> [Family; 5] {
        let numbers = [
            (
                "controller_runtime_reconcile_errors_total",
                "Total number of reconciliation errors per controller",
                Kind::Counter,
                counts.results[ReconcileResult::Error as usize] as f64,
            ),
            // Every error is retried, so this stays zero; the original has it.
            (
                "controller_runtime_terminal_reconcile_errors_total",
                "Total number of terminal reconciliation errors per controller",
                Kind::Counter,
                0.0,
            ),
            (
                "controller_runtime_reconcile_panics_total",
                "Total number of reconciliation panics per controller",
                Kind::Counter,
                counts.panics as f64,
            ),
            (
                "controller_runtime_max_concurrent_reconciles",
                "Maximum number of concurrent reconciles per controller",
                Kind::Gauge,
                self.workers as f64,
            ),
            (
                "controller_runtime_active_workers",
                "Number of currently used workers per controller",
                Kind::Gauge,
                counts.active as f64,
            ),
        ];
        numbers.map(|(name, help, kind, value)| {
            let samples = vec![self.sample(Reading::Number(value))];
            Family { name, help, kind, samples }
        })
    }

    fn sample(&self, reading: Reading) -> Sample {
        Sample { labels: vec![("controller", self.name.clone())], reading }
    }
}
