//! The effects of faults on requests.

use std::convert::Infallible;
use std::future::Future;
use std::time::Duration;

use bytes::Bytes;
use futures::{StreamExt, stream};
use http::header::CONTENT_LENGTH;
use http_body::Frame;
use http_body_util::{BodyExt, BodyStream, StreamBody};

use super::refusal::Refusal;
use super::watches::WatchEnd;
use crate::access::attributes::Attributes;
use crate::http::reply::{Body, Reply};
use crate::http::status::Status;

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

/// Applies effects to a request with the body `sent`; `serve` executes it. Returns nothing if the request is never
/// answered.
pub(crate) async fn apply_effects(
    effects: &[Effect],
    (request, sent): (&Attributes, &[u8]),
    serve: impl Future<Output = Reply>,
) -> Option<Reply> {
    for effect in effects {
        match effect {
            Effect::Refuse(refusal) => return Some(refusal.reply(request, sent)),
            Effect::Delay(delay) => tokio::time::sleep(*delay).await,
            Effect::Stall => return None,
            Effect::RefuseAfter(_) | Effect::StallAfter | Effect::EndWatch { .. } | Effect::LagWatch(_) => {}
        }
    }
    let mut reply = serve.await;
    for effect in effects {
        match effect {
            Effect::RefuseAfter(refusal) => {
                return Some(Reply { name: reply.name, ..refusal.reply(request, sent) });
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
