//! Measurements of answered requests, under the names that Kubernetes' API servers give them.

mod labels;

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use formats::exposition::{self, Family, Histogram, Kind, Reading, Sample};
use http::Method;
use http::request::Parts;
use http_body::{Frame, SizeHint};
use http_body_util::BodyExt as _;
use parking_lot::Mutex;
use tokio::time::Instant;

use self::labels::RequestLabels;
use crate::access::attributes::Attributes;
use crate::http::reply::{Body, Reply};

/// Upper bounds of the durations, in seconds.
const BOUNDS: &[f64] = &[
    0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 15.0,
    20.0, 30.0, 45.0, 60.0,
];

/// Measures something else at every scrape.
pub(crate) type Collector = Arc<dyn Fn() -> Vec<Family> + Send + Sync>;

/// What a server answers to `/metrics`.
pub(crate) struct ServerMetrics {
    requests: Mutex<BTreeMap<RequestLabels, Answered>>,
    further: Collector,
}

/// The answers to requests with the same labels.
struct Answered {
    codes: BTreeMap<u16, u64>,
    durations: Histogram,
}

/// A request with its answer; dropping it counts it.
struct Measurement {
    metrics: Arc<ServerMetrics>,
    labels: RequestLabels,
    code: u16,
    received: Instant,
}

/// The body of an answer that is counted when it ends.
struct MeasuredBody {
    body: Body,
    _measurement: Measurement,
}

impl ServerMetrics {
    /// Nothing is counted yet.
    pub(crate) fn new(further: Collector) -> Self {
        Self { requests: Mutex::default(), further }
    }

    /// The metrics of another server.
    pub(crate) fn fork(&self) -> Self {
        Self::new(Arc::clone(&self.further))
    }

    /// Answers `/metrics`. As in Kubernetes, a deletion starts the counts again.
    pub(super) fn answer(&self, method: &Method) -> Reply {
        if *method == Method::DELETE {
            self.requests.lock().clear();
            return Reply::text(200, "metrics reset\n");
        }
        let mut families = self.families();
        families.extend((self.further)());
        Reply { content_type: exposition::CONTENT_TYPE, ..Reply::text(200, exposition::encode(families)) }
    }

    fn count(&self, labels: RequestLabels, code: u16, seconds: f64) {
        let mut requests = self.requests.lock();
        let answered = requests
            .entry(labels)
            .or_insert_with(|| Answered { codes: BTreeMap::new(), durations: Histogram::new(BOUNDS) });
        *answered.codes.entry(code).or_default() += 1;
        answered.durations.observe(seconds);
    }

    #[expect(clippy::cast_precision_loss, reason = "Prometheus counts in floating point")]
    fn families(&self) -> Vec<Family> {
        let requests = self.requests.lock();
        let totals = requests.iter().flat_map(|(labels, answered)| {
            answered.codes.iter().map(move |(code, count)| Sample {
                labels: labels.with_code(*code),
                reading: Reading::Number(*count as f64),
            })
        });
        let totals = Family {
            name: "apiserver_request_total",
            help: "Answered requests by verb, dry run, group, version, resource, subresource, scope, component and HTTP code.",
            kind: Kind::Counter,
            samples: totals.collect(),
        };
        let durations = requests.iter().map(|(labels, answered)| Sample {
            labels: labels.pairs(),
            reading: answered.durations.reading(),
        });
        let durations = Family {
            name: "apiserver_request_duration_seconds",
            help: "Time to answer requests, by verb, dry run, group, version, resource, subresource, scope and component.",
            kind: Kind::Histogram,
            samples: durations.collect(),
        };
        vec![totals, durations]
    }
}

/// Counts an answered request: a watch when it ends, any other one at once.
pub(super) fn measure(
    metrics: Option<&Arc<ServerMetrics>>,
    (parts, request): (&Parts, &Attributes),
    received: Instant,
    reply: Reply,
) -> Reply {
    let Some(metrics) = metrics else { return reply };
    let Some(labels) = RequestLabels::of(parts, request, &reply) else { return reply };
    let is_watch = labels.is_watch();
    let measurement = Measurement { metrics: Arc::clone(metrics), labels, code: reply.code, received };
    if !is_watch {
        drop(measurement);
        return reply;
    }
    let body = MeasuredBody { body: reply.body, _measurement: measurement };
    Reply { body: body.boxed_unsync(), ..reply }
}

impl Drop for Measurement {
    fn drop(&mut self) {
        let labels = std::mem::take(&mut self.labels);
        self.metrics.count(labels, self.code, self.received.elapsed().as_secs_f64());
    }
}

impl http_body::Body for MeasuredBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
