//! Proxies requests to another API server, on behalf of the user.

use bytes::Bytes;
use http::Request;
use http::request::Parts;
use webhook::dial::Streamed;

use super::{Backend, availability, transport};
use crate::call::User;
use crate::http::forwarding::{passed_on, response_headers};
use crate::http::reply::Reply;
use crate::state::ServerState;

/// Forwards a request and returns the response.
pub(crate) async fn proxy(
    shared: &ServerState,
    backend: Backend,
    parts: &Parts,
    user: &User,
    body: Bytes,
) -> Reply {
    // Without requests for the group, its availability may not have been checked yet.
    if !backend.available && !availability::check_availability(shared, &backend.name).await {
        return Reply::text(503, "service unavailable\n");
    }
    let mut request = Request::new(body);
    *request.method_mut() = parts.method.clone();
    let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
    *request.uri_mut() = path.parse().unwrap_or_default();
    *request.headers_mut() = transport::headers(&parts.headers, user);
    match transport::send(shared, &backend, request).await {
        Ok(answer) => to_reply(answer),
        Err(why) => Reply::text(503, format!("error trying to reach service: {why}\n")),
    }
}

fn to_reply(answer: Streamed) -> Reply {
    let (parts, body) = answer.into_parts();
    let (body, headers) = (passed_on(body), response_headers(&parts.headers));
    Reply { body, headers, ..Reply::json(parts.status.as_u16(), Bytes::new()) }
}
