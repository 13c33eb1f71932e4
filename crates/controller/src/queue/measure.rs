//! Measurements of a queue, under the names of controller-runtime.

use formats::exposition::{Family, Histogram, Kind, Reading, Sample};
use tokio::time::Instant;

/// From ten nanoseconds to ten seconds.
const BOUNDS: &[f64] = &[1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0];

/// Name, kind and help text.
const FAMILIES: [(&str, Kind, &str); 7] = [
    ("workqueue_depth", Kind::Gauge, "Current depth of workqueue"),
    ("workqueue_adds_total", Kind::Counter, "Total number of adds handled by workqueue"),
    (
        "workqueue_queue_duration_seconds",
        Kind::Histogram,
        "How long in seconds an item stays in workqueue before being requested",
    ),
    (
        "workqueue_work_duration_seconds",
        Kind::Histogram,
        "How long in seconds processing an item from workqueue takes.",
    ),
    (
        "workqueue_unfinished_work_seconds",
        Kind::Gauge,
        "How many seconds the work has taken that is in progress now, over all items; it grows when work is stuck.",
    ),
    (
        "workqueue_longest_running_processor_seconds",
        Kind::Gauge,
        "How many seconds the longest piece of work has taken that is in progress now.",
    ),
    ("workqueue_retries_total", Kind::Counter, "Total number of retries handled by workqueue"),
];

/// What has been counted.
#[derive(Debug)]
pub(super) struct Measured {
    pub(super) depth: usize,
    pub(super) adds: u64,
    pub(super) retries: u64,
    pub(super) waited: Histogram,
    pub(super) worked: Histogram,
}

impl Measured {
    pub(super) fn new() -> Self {
        let (waited, worked) = (Histogram::new(BOUNDS), Histogram::new(BOUNDS));
        Self { depth: 0, adds: 0, retries: 0, waited, worked }
    }
}

/// All families; `working_since` has the start of each unfinished item.
#[expect(clippy::cast_precision_loss, reason = "Prometheus counts in floating point")]
pub(super) fn families(
    name: &str,
    measured: &Measured,
    working_since: impl Iterator<Item = Instant>,
    now: Instant,
) -> Vec<Family> {
    let (mut unfinished, mut longest) = (0.0, 0.0_f64);
    for since in working_since {
        let seconds = now.saturating_duration_since(since).as_secs_f64();
        unfinished += seconds;
        longest = longest.max(seconds);
    }
    let readings = [
        Reading::Number(measured.depth as f64),
        Reading::Number(measured.adds as f64),
        measured.waited.reading(),
        measured.worked.reading(),
        Reading::Number(unfinished),
        Reading::Number(longest),
        Reading::Number(measured.retries as f64),
    ];
    let family = |((metric, kind, help), reading)| {
        let sample = Sample { labels: vec![("name", name.to_owned())], reading };
        Family { name: metric, help, kind, samples: vec![sample] }
    };
    FAMILIES.into_iter().zip(readings).map(family).collect()
}
