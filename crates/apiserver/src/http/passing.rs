//! Requests and answers on their way through this server: what belongs to one connection stays, what breaks off ends.

use bytes::Bytes;
use futures::StreamExt as _;
use http::header::{AUTHORIZATION, CONNECTION, CONTENT_LENGTH, HOST, TRANSFER_ENCODING};
use http::{HeaderMap, HeaderName};
use http_body_util::{BodyExt as _, BodyStream, StreamBody};

use crate::http::reply::Body;

/// What belongs to one connection, or to who came in by it.
const OWN: [HeaderName; 5] = [HOST, AUTHORIZATION, CONNECTION, CONTENT_LENGTH, TRANSFER_ENCODING];

/// What is said to the next one.
pub(crate) fn said_on(headers: &HeaderMap) -> HeaderMap {
    let mut headers = headers.clone();
    for own in OWN {
        headers.remove(own);
    }
    headers
}

/// A body that ends where another one breaks off: whoever reads it sees that it is not whole.
pub fn passed_on<B>(body: B) -> Body
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Send,
{
    let whole = BodyStream::new(body).take_while(|frame| std::future::ready(frame.is_ok()));
    StreamBody::new(whole.filter_map(|frame| std::future::ready(frame.ok().map(Ok)))).boxed_unsync()
}
