//! Headers and bodies of forwarded requests and responses.

use bytes::Bytes;
use futures::StreamExt as _;
use http::header::{
    AUTHORIZATION, CONNECTION, CONTENT_LENGTH, HOST, TE, TRAILER, TRANSFER_ENCODING, UPGRADE,
};
use http::{HeaderMap, HeaderName};
use http_body_util::{BodyExt as _, BodyStream, StreamBody};

use crate::http::reply::Body;

/// Headers of one connection.
const HOP_BY_HOP: [HeaderName; 6] =
    [CONNECTION, HeaderName::from_static("keep-alive"), TE, TRAILER, TRANSFER_ENCODING, UPGRADE];
/// Headers of the original client and body, which the next request sets anew.
const OWN: [HeaderName; 3] = [HOST, AUTHORIZATION, CONTENT_LENGTH];

/// The headers of a request to forward.
pub(crate) fn request_headers(headers: &HeaderMap) -> HeaderMap {
    without(headers, HOP_BY_HOP.iter().chain(&OWN))
}

/// The headers of a response whose body is forwarded as a stream. They include its length, so that the client notices
/// when it breaks off.
pub(crate) fn response_headers(headers: &HeaderMap) -> HeaderMap {
    without(headers, HOP_BY_HOP.iter())
}

fn without<'a>(headers: &HeaderMap, own: impl Iterator<Item = &'a HeaderName>) -> HeaderMap {
    let mut headers = headers.clone();
    for name in own {
        headers.remove(name);
    }
    headers
}

/// Wraps a body so that it ends where the original fails: bodies of this server have no errors.
pub fn passed_on<B>(body: B) -> Body
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Send,
{
    let frames = BodyStream::new(body).take_while(|frame| std::future::ready(frame.is_ok()));
    StreamBody::new(frames.filter_map(|frame| std::future::ready(frame.ok().map(Ok)))).boxed_unsync()
}
