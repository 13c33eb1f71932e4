//! Requests and answers on their way through this server: what belongs to one connection stays, what breaks off ends.

use bytes::Bytes;
use futures::StreamExt as _;
use http::header::{
    AUTHORIZATION, CONNECTION, CONTENT_LENGTH, HOST, TE, TRAILER, TRANSFER_ENCODING, UPGRADE,
};
use http::{HeaderMap, HeaderName};
use http_body_util::{BodyExt as _, BodyStream, StreamBody};

use crate::http::reply::Body;

/// What belongs to one connection.
const HOP_BY_HOP: [HeaderName; 6] =
    [CONNECTION, HeaderName::from_static("keep-alive"), TE, TRAILER, TRANSFER_ENCODING, UPGRADE];
/// What belongs to who came in by it, and to the body that was read.
const OWN: [HeaderName; 3] = [HOST, AUTHORIZATION, CONTENT_LENGTH];

/// What is said to the next one.
pub(crate) fn request_headers(headers: &HeaderMap) -> HeaderMap {
    without(headers, HOP_BY_HOP.iter().chain(&OWN))
}

/// What is said of an answer whose body is passed on as it comes: how long it is, too, so that whoever reads one that broke
/// off sees that it is not whole.
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

/// A body that ends where another one breaks off, since nothing here fails.
pub fn passed_on<B>(body: B) -> Body
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Send,
{
    let whole = BodyStream::new(body).take_while(|frame| std::future::ready(frame.is_ok()));
    StreamBody::new(whole.filter_map(|frame| std::future::ready(frame.ok().map(Ok)))).boxed_unsync()
}
