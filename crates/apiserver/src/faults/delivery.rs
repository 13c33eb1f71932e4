//! Delivers the events of a watch under the faults of single events, and logs them.

use std::collections::VecDeque;
use std::convert::Infallible;

use bytes::Bytes;
use futures::{StreamExt, stream};
use http_body::Frame;
use http_body_util::{BodyExt, BodyStream, StreamBody};
use tokio::time::{Instant, sleep_until};

use super::Faults;
use super::events::{DeliveredEvent, EventChange};
use super::watches::WatchEnd;
use crate::access::attributes::{Attributes, RequestInfo};
use crate::http::reply::Body;

/// A running watch.
struct Delivery {
    body: BodyStream<Body>,
    faults: Faults,
    request: Attributes,
    began: Instant,
    pending: VecDeque<Bytes>,
    /// When the watch ends, once an event was lost.
    ends: Option<Instant>,
    done: bool,
}

/// The body of a watch (a frame per event) under the faults.
pub(super) fn deliver(body: Body, faults: &Faults, request: &Attributes) -> Body {
    let delivery = Delivery {
        body: BodyStream::new(body),
        faults: faults.clone(),
        request: request.clone(),
        began: Instant::now(),
        pending: VecDeque::new(),
        ends: None,
        done: false,
    };
    let frames = stream::unfold(delivery, |mut delivery| async move {
        let bytes = delivery.next().await?;
        Some((Ok::<_, Infallible>(Frame::data(bytes)), delivery))
    });
    StreamBody::new(frames).boxed_unsync()
}

impl Delivery {
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if let Some(bytes) = self.pending.pop_front() {
                return Some(bytes);
            }
            if self.done {
                return None;
            }
            if let Some(end) = self.ends {
                self.lose_until(end).await;
                continue;
            }
            let Ok(frame) = self.body.next().await?;
            let Ok(bytes) = frame.into_data() else { continue };
            let Some(event) = read(&self.request, &bytes) else { return Some(bytes) };
            match self.faults.strike_event(&self.request, &event, self.began) {
                None => {}
                Some(EventChange::Twice) => self.pending.push_back(bytes.clone()),
                Some(EventChange::Late(hold)) => hold.end().await,
                Some(EventChange::Lost(time)) => {
                    self.ends = Some(Instant::now() + time);
                    continue;
                }
            }
            self.faults.record_event(&self.request, &event);
            return Some(bytes);
        }
    }

    /// Delivers nothing until the end, and then the error that makes the client list again.
    async fn lose_until(&mut self, end: Instant) {
        loop {
            tokio::select! {
                () = sleep_until(end) => break,
                frame = self.body.next() => if frame.is_none() { break },
            }
        }
        self.pending.extend(WatchEnd::Expired.event());
        self.done = true;
    }
}

/// The event of a frame; `None` if it is about no object.
fn read(request: &Attributes, bytes: &[u8]) -> Option<DeliveredEvent> {
    let RequestInfo::Resource { path, .. } = &request.info else { return None };
    let event = formats::json::document(bytes).ok()?;
    let kind = event["type"].as_str().filter(|kind| ["ADDED", "MODIFIED", "DELETED"].contains(kind))?;
    let metadata = &event["object"]["metadata"];
    let text = |field: &str| metadata[field].as_str().unwrap_or_default().to_owned();
    let name = metadata["name"].as_str()?.to_owned();
    Some(DeliveredEvent {
        group: path.group.clone(),
        version: path.version.clone(),
        resource: path.resource.clone(),
        namespace: text("namespace"),
        name,
        kind: kind.to_owned(),
        revision: text("resourceVersion"),
    })
}
