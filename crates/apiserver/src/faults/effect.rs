//! The effects of faults on requests.

use std::convert::Infallible;
use std::future::Future;
use std::time::Duration;

use bytes::Bytes;
use futures::{StreamExt, stream};
use http::header::CONTENT_LENGTH;
use http_body::Frame;
use http_body_util::{BodyExt, BodyStream, StreamBody};

use super::watches::WatchEnd;
use crate::access::attributes::{Attributes, RequestInfo};
use crate::access::authorization::AccessRequest;
use crate::http::reply::{Body, Reply};
use crate::http::status::{GroupResource, Status};

/// The effect of a fault on a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The server does not execute it and answers with an error.
    Refuse(Refusal),
    /// The server executes it and answers with an error.
    RefuseAfter(Refusal),
    /// The server delays it.
    Delay(Duration),
    /// The server neither executes nor answers it.
    Stall,
    /// The server executes it and never answers.
    StallAfter,
    /// A watch ends after a number of events.
    EndWatch {
        /// How many events it still delivers, including bookmarks.
        after: usize,
        /// How it ends.
        end: WatchEnd,
    },
    /// A watch delivers each event with this delay, in order.
    LagWatch(Duration),
}

/// How many events a delayed watch holds back at once.
const MAX_DELAYED_EVENTS: usize = 1024;

/// The error with which a request is refused, worded as in Kubernetes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// 403, as if no role allowed the request.
    Forbidden,
    /// 409, as after a concurrent change.
    Conflict,
    /// 410, as if the revision were compacted.
    Expired,
    /// 429 of priority and fairness.
    TooManyRequests {
        /// Seconds.
        retry_after: u64,
    },
    /// 500.
    InternalError,
    /// 503.
    ServiceUnavailable {
        /// Seconds; 0 omits `Retry-After`.
        retry_after: u64,
    },
    /// 504: the request may or may not have been executed.
    Timeout,
}

/// Applies effects to a request; `serve` executes it. Returns nothing if the request is never answered.
pub(crate) async fn apply_effects(
    effects: &[Effect],
    request: &Attributes,
    serve: impl Future<Output = Reply>,
) -> Option<Reply> {
    for effect in effects {
        match effect {
            Effect::Refuse(refusal) => return Some(refusal.reply(request)),
            Effect::Delay(delay) => tokio::time::sleep(*delay).await,
            Effect::Stall => return None,
            Effect::RefuseAfter(_) | Effect::StallAfter | Effect::EndWatch { .. } | Effect::LagWatch(_) => {}
        }
    }
    let mut reply = serve.await;
    for effect in effects {
        match effect {
            Effect::RefuseAfter(refusal) => {
                return Some(Reply { name: reply.name, ..refusal.reply(request) });
            }
            Effect::StallAfter => return Some(Reply { withheld: true, ..reply }),
            Effect::EndWatch { after, end } => {
                reply.headers.remove(CONTENT_LENGTH);
                reply.body = end_after(reply.body, *after, *end);
            }
            Effect::LagWatch(lag) => {
                reply.headers.remove(CONTENT_LENGTH);
                reply.body = delay_frames(reply.body, *lag);
            }
            Effect::Refuse(_) | Effect::Delay(_) | Effect::Stall => {}
        }
    }
    Some(reply)
}

impl Refusal {
    fn reply(self, request: &Attributes) -> Reply {
        if self == Self::Forbidden {
            return AccessRequest::of(request).forbidden("").into();
        }
        let RequestInfo::Resource { path, .. } = &request.info else { return self.status("", "", "").into() };
        match self {
            Self::TooManyRequests { retry_after } => Reply {
                retry_after: Some(retry_after),
                ..Reply::text(429, "Too many requests, please try again later.\n")
            },
            _ => self.status(&path.group, &path.resource, &path.name).into(),
        }
    }

    fn status(self, group: &str, resource: &str, name: &str) -> Status {
        match self {
            Self::Forbidden => Status::plain(403, "Forbidden", "forbidden"),
            Self::Conflict => Status::outdated(GroupResource { group, resource }, name),
            Self::Expired => Status::expired("The provided resourceVersion is too old."),
            Self::TooManyRequests { retry_after } => {
                let message = "Too many requests, please try again later.";
                with_retry_after(Status::plain(429, "TooManyRequests", message), retry_after)
            }
            Self::InternalError => Status::internal("etcdserver: leader changed"),
            Self::ServiceUnavailable { retry_after } => {
                let message = "the server is currently unable to handle the request";
                with_retry_after(Status::plain(503, "ServiceUnavailable", message), retry_after)
            }
            Self::Timeout => {
                let message = "the server was unable to return a response in the time allotted, but may still be \
                               processing the request";
                Status::plain(504, "Timeout", message)
            }
        }
    }
}

fn with_retry_after(mut status: Status, retry_after: u64) -> Status {
    if retry_after > 0 {
        status.details.insert("retryAfterSeconds".to_owned(), retry_after.into());
    }
    status
}

/// The first frames of a body (one per event), then the end.
fn end_after(body: Body, after: usize, end: WatchEnd) -> Body {
    let last = end.event().map(|event| Ok::<_, Infallible>(Frame::data(event)));
    StreamBody::new(BodyStream::new(body).take(after).chain(stream::iter(last))).boxed_unsync()
}

/// The frames of a body (one per event), each delayed.
fn delay_frames(body: Body, lag: Duration) -> Body {
    let frames = BodyStream::new(body).map(move |frame| async move {
        tokio::time::sleep(lag).await;
        frame
    });
    StreamBody::new(frames.buffered(MAX_DELAYED_EVENTS)).boxed_unsync()
}

impl WatchEnd {
    /// The event that announces the end, if any.
    pub(crate) fn event(self) -> Option<Bytes> {
        match self {
            Self::Closed => None,
            Self::Expired => {
                let status = Status::expired("The resourceVersion for the provided watch is too old.");
                Some(Bytes::from(format!("{{\"type\":\"ERROR\",\"object\":{}}}\n", status.json())))
            }
        }
    }
}
