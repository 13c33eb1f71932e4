//! Metrics of a service with the names of controller-runtime, kept in atomics.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use formats::exposition::{Family, Kind, Reading, Sample};

/// Upper bounds of the latency buckets in seconds: the defaults of Go's client.
const BOUNDS: [f64; 11] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];

/// Counts of one path.
#[derive(Debug, Default)]
pub(crate) struct PathCounts {
    buckets: [AtomicU64; BOUNDS.len()],
    nanoseconds: AtomicU64,
    answered: AtomicU64,
    begun: AtomicU64,
}

impl PathCounts {
    /// Counts a request, which ends when the guard is dropped, even if the client has disconnected.
    pub(crate) fn begin(&self) -> InFlight<'_> {
        self.begun.fetch_add(1, Ordering::Relaxed);
        InFlight { counts: self, started: tokio::time::Instant::now() }
    }

    fn end(&self, took: Duration) {
        let seconds = took.as_secs_f64();
        if let Some(index) = BOUNDS.iter().position(|bound| seconds <= *bound) {
            self.buckets[index].fetch_add(1, Ordering::Relaxed);
        }
        let nanoseconds = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        self.nanoseconds.fetch_add(nanoseconds, Ordering::Relaxed);
        self.answered.fetch_add(1, Ordering::Relaxed);
    }

    fn latency(&self) -> Reading {
        let mut at_most = 0;
        let buckets = BOUNDS.iter().zip(&self.buckets).map(|(bound, count)| {
            at_most += count.load(Ordering::Relaxed);
            (*bound, at_most)
        });
        let buckets = buckets.collect();
        let sum = Duration::from_nanos(self.nanoseconds.load(Ordering::Relaxed)).as_secs_f64();
        Reading::Distribution { buckets, sum, count: self.answered.load(Ordering::Relaxed) }
    }
}

/// One request that is being answered.
pub(crate) struct InFlight<'a> {
    counts: &'a PathCounts,
    started: tokio::time::Instant,
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.counts.end(self.started.elapsed());
    }
}

/// The families of all paths, each with its counts.
pub(crate) fn families<'a>(counts: impl Iterator<Item = (&'a str, &'a PathCounts)> + Clone) -> Vec<Family> {
    let label = |path: &str| ("webhook", path.to_owned());
    let latency = counts.clone().filter(|(_, counts)| counts.answered.load(Ordering::Relaxed) > 0);
    let latency =
        latency.map(|(path, counts)| Sample { labels: vec![label(path)], reading: counts.latency() });
    let totals = counts.clone().flat_map(|(path, counts)| {
        // Every HTTP response is 200, because errors are in the review. controller-runtime also exports 500 with zero.
        [("200", counts.answered.load(Ordering::Relaxed)), ("500", 0)].map(|(code, total)| Sample {
            labels: vec![("code", code.to_owned()), label(path)],
            reading: Reading::Number(float(total)),
        })
    });
    let in_flight = counts.map(|(path, counts)| {
        let answered = counts.answered.load(Ordering::Relaxed);
        let open = counts.begun.load(Ordering::Relaxed).saturating_sub(answered);
        Sample { labels: vec![label(path)], reading: Reading::Number(float(open)) }
    });
    vec![
        Family {
            name: "controller_runtime_webhook_latency_seconds",
            help: "Histogram of the latency of processing admission requests",
            kind: Kind::Histogram,
            samples: latency.collect(),
        },
        Family {
            name: "controller_runtime_webhook_requests_total",
            help: "Total number of admission requests by HTTP status code.",
            kind: Kind::Counter,
            samples: totals.collect(),
        },
        Family {
            name: "controller_runtime_webhook_requests_in_flight",
            help: "Current number of admission requests being served.",
            kind: Kind::Gauge,
            samples: in_flight.collect(),
        },
    ]
}

#[expect(clippy::cast_precision_loss, reason = "Prometheus counts in floating point")]
fn float(count: u64) -> f64 {
    count as f64
}
