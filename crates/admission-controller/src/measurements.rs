//! What the component measures itself, under the names of the original.

use std::collections::BTreeMap;
use std::time::Duration;

use formats::exposition::{Family, Kind, Reading, Sample};
use parking_lot::Mutex;

use crate::graph::VertexKind;

/// Upper bounds in seconds of the measurements of the graph: from 0.1 ms, each twice the one before.
const GRAPH_BOUNDS: [f64; 12] =
    [0.0001, 0.0002, 0.0004, 0.0008, 0.0016, 0.0032, 0.0064, 0.0128, 0.0256, 0.0512, 0.1024, 0.2048];
/// Upper bounds in seconds of the latency of requests: the defaults of Go's client.
const LATENCY_BOUNDS: [f64; 11] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];

type Labels = Vec<(&'static str, String)>;

/// The measurements.
#[derive(Debug, Default)]
pub struct Measurements {
    rejected: Mutex<BTreeMap<Labels, u64>>,
    updates: Mutex<BTreeMap<Labels, Durations<12>>>,
    path_checks: Mutex<BTreeMap<Labels, Durations<12>>>,
    requests: Mutex<BTreeMap<Labels, PathRequests>>,
}

/// Durations, counted by upper bounds.
#[derive(Clone, Debug)]
struct Durations<const N: usize> {
    bounds: &'static [f64; N],
    counts: [u64; N],
    count: u64,
    sum: f64,
}

#[derive(Clone, Debug)]
struct PathRequests {
    latency: Durations<11>,
    open: u64,
}

impl<const N: usize> Durations<N> {
    fn new(bounds: &'static [f64; N]) -> Self {
        Self { bounds, counts: [0; N], count: 0, sum: 0.0 }
    }

    fn observe(&mut self, took: Duration) {
        let seconds = took.as_secs_f64();
        if let Some(index) = self.bounds.iter().position(|bound| seconds <= *bound) {
            self.counts[index] += 1;
        }
        self.count += 1;
        self.sum += seconds;
    }

    fn reading(&self) -> Reading {
        let mut at_most = 0;
        let buckets = self.bounds.iter().zip(&self.counts).map(|(bound, count)| {
            at_most += count;
            (*bound, at_most)
        });
        Reading::Distribution { buckets: buckets.collect(), sum: self.sum, count: self.count }
    }
}

/// A request that is being answered; it ends when this is dropped.
#[derive(Debug)]
pub struct OpenRequest<'a> {
    measurements: &'a Measurements,
    path: String,
    started: tokio::time::Instant,
}

impl Drop for OpenRequest<'_> {
    fn drop(&mut self) {
        let mut requests = self.measurements.requests.lock();
        let counts = path_requests(&mut requests, &self.path);
        counts.open = counts.open.saturating_sub(1);
        counts.latency.observe(self.started.elapsed());
    }
}

impl Measurements {
    /// A webhook rejected an object.
    pub fn rejected(&self, operation: &str, kind: &str, namespace: &str, reason: &str) {
        let labels = vec![
            ("kind", kind.to_owned()),
            ("namespace", namespace.to_owned()),
            ("operation", operation.to_owned()),
            ("reason", reason.to_owned()),
        ];
        *self.rejected.lock().entry(labels).or_default() += 1;
    }

    /// An event changed the graph.
    pub fn graph_updated(&self, kind: VertexKind, operation: &str, took: Duration) {
        let labels = vec![("kind", kind.name().to_owned()), ("operation", operation.to_owned())];
        observe(&self.updates, labels, took);
    }

    /// A path to a Seed was looked for.
    pub fn path_checked(&self, from: VertexKind, took: Duration) {
        let to = VertexKind::Seed.name().to_owned();
        observe(&self.path_checks, vec![("fromKind", from.name().to_owned()), ("toKind", to)], took);
    }

    /// A request to a path arrived.
    pub fn begin(&self, path: &str) -> OpenRequest<'_> {
        path_requests(&mut self.requests.lock(), path).open += 1;
        OpenRequest { measurements: self, path: path.to_owned(), started: tokio::time::Instant::now() }
    }

    /// All measurements so far.
    #[must_use]
    pub fn families(&self) -> Vec<Family> {
        let rejected = self.rejected.lock();
        let rejected = rejected.iter().map(|(labels, count)| number(labels.clone(), *count)).collect();
        let mut families = vec![
            Family {
                name: "gardener_admission_controller_rejected_resources_total",
                help: "Total number of rejected resources.",
                kind: Kind::Counter,
                samples: rejected,
            },
            Family {
                name: "gardener_admission_controller_seed_authorizer_graph_path_check_duration_seconds",
                help: "Time to look for a path between an object and a seed in the seed authorizer's resource graph.",
                kind: Kind::Histogram,
                samples: readings(&self.path_checks),
            },
            Family {
                name: "gardener_admission_controller_seed_authorizer_graph_update_duration_seconds",
                help: "Time to update the seed authorizer's resource graph.",
                kind: Kind::Histogram,
                samples: readings(&self.updates),
            },
        ];
        families.extend(self.request_families());
        families
    }

    fn request_families(&self) -> [Family; 3] {
        let requests = self.requests.lock();
        let answered = requests.iter().filter(|(_, counts)| counts.latency.count > 0);
        let latency = answered
            .map(|(labels, counts)| Sample { labels: labels.clone(), reading: counts.latency.reading() });
        let totals = requests.iter().flat_map(|(labels, counts)| {
            [("200", counts.latency.count), ("500", 0)].map(|(code, total)| {
                let code = ("code", code.to_owned());
                number([code].into_iter().chain(labels.iter().cloned()).collect(), total)
            })
        });
        let open = requests.iter().map(|(labels, counts)| number(labels.clone(), counts.open));
        [
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
                samples: open.collect(),
            },
        ]
    }
}

fn path_requests<'a>(requests: &'a mut BTreeMap<Labels, PathRequests>, path: &str) -> &'a mut PathRequests {
    let labels = vec![("webhook", path.to_owned())];
    requests
        .entry(labels)
        .or_insert_with(|| PathRequests { latency: Durations::new(&LATENCY_BOUNDS), open: 0 })
}

fn observe(of: &Mutex<BTreeMap<Labels, Durations<12>>>, labels: Labels, took: Duration) {
    of.lock().entry(labels).or_insert_with(|| Durations::new(&GRAPH_BOUNDS)).observe(took);
}

fn readings(of: &Mutex<BTreeMap<Labels, Durations<12>>>) -> Vec<Sample> {
    let of = of.lock();
    of.iter().map(|(labels, counts)| Sample { labels: labels.clone(), reading: counts.reading() }).collect()
}

#[expect(clippy::cast_precision_loss, reason = "Prometheus counts in floating point")]
fn number(labels: Labels, count: u64) -> Sample {
    Sample { labels, reading: Reading::Number(count as f64) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measurements_have_the_names_labels_and_buckets_of_the_original() {
        let measurements = Measurements::default();
        measurements.rejected("CREATE", "Secret", "a", "Rejected Kubeconfig");
        measurements.rejected("CREATE", "Secret", "a", "Rejected Kubeconfig");
        measurements.graph_updated(VertexKind::Shoot, "Delete", Duration::from_millis(1));
        measurements.path_checked(VertexKind::InternalSecret, Duration::from_secs(1));
        drop(measurements.begin("/webhooks/auth/seed"));
        let open = measurements.begin("/webhooks/auth/seed");
        let text = formats::exposition::encode(measurements.families());
        drop(open);
        for line in [
            r#"gardener_admission_controller_rejected_resources_total{kind="Secret",namespace="a",operation="CREATE",reason="Rejected Kubeconfig"} 2"#,
            r#"gardener_admission_controller_seed_authorizer_graph_update_duration_seconds_bucket{kind="Shoot",operation="Delete",le="0.0008"} 0"#,
            r#"gardener_admission_controller_seed_authorizer_graph_update_duration_seconds_bucket{kind="Shoot",operation="Delete",le="0.0016"} 1"#,
            r#"gardener_admission_controller_seed_authorizer_graph_path_check_duration_seconds_bucket{fromKind="InternalSecret",toKind="Seed",le="0.2048"} 0"#,
            r#"gardener_admission_controller_seed_authorizer_graph_path_check_duration_seconds_count{fromKind="InternalSecret",toKind="Seed"} 1"#,
            r#"controller_runtime_webhook_requests_total{code="200",webhook="/webhooks/auth/seed"} 1"#,
            r#"controller_runtime_webhook_requests_in_flight{webhook="/webhooks/auth/seed"} 1"#,
        ] {
            assert!(text.lines().any(|found| found == line), "{line} is missing in\n{text}");
        }
    }
}
