//! Proxies requests to another API server, on behalf of the user.

use std::sync::Arc;

use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Request};
use webhook::dial::{Connection, Dialer, Streamed};

use super::{Backend, availability};
use crate::aggregation::resolve;
use crate::call::User;
use crate::http::forwarding::{passed_on, request_headers, response_headers};
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
    *request.headers_mut() = headers(&parts.headers, user);
    match send(shared, &backend, request).await {
        Ok(answer) => to_reply(answer),
        Err(why) => Reply::text(503, format!("error trying to reach service: {why}\n")),
    }
}

/// Sends a request to another API server.
pub(super) async fn send(
    shared: &ServerState,
    backend: &Backend,
    request: Request<Bytes>,
) -> Result<Streamed, String> {
    let dialer = dialer(shared, backend)?;
    dialer.pass(request).await.map_err(|error| error.to_string())
}

/// The connection to another API server.
pub(super) fn dialer(shared: &ServerState, backend: &Backend) -> Result<Arc<dyn Dialer>, String> {
    let dialers = shared
        .dialers
        .as_ref()
        .ok_or("the embedded API server has no dialers to connect to other API servers")?;
    let endpoint = resolve::endpoint(shared, &backend.client);
    let certificate =
        if shared.switches.post_start_hooks { shared.front_proxy.certificate() } else { Ok(None) };
    let certificate =
        certificate.map_err(|error| format!("failed to make the front proxy's certificate: {error}"))?;
    let connection = Connection { endpoint: endpoint.as_deref(), insecure: backend.insecure, certificate };
    dialers.dialer(&backend.client, connection).map_err(|error| error.to_string())
}

/// The request's headers with `X-Remote-` headers of the user; those that the client sent to name a user are removed.
pub(super) fn headers(sent: &HeaderMap, user: &User) -> HeaderMap {
    let names_a_user = |name: &HeaderName| {
        let name = name.as_str();
        name.starts_with("x-remote-") || name.starts_with("impersonate-")
    };
    let mut headers = request_headers(sent);
    for name in sent.keys().filter(|name| names_a_user(name)) {
        headers.remove(name);
    }
    let mut add = |name: &str, value: &str| {
        let name = HeaderName::from_bytes(name.as_bytes());
        if let (Ok(name), Ok(value)) = (name, HeaderValue::from_str(value)) {
            headers.append(name, value);
        }
    };
    add("x-remote-user", &user.name);
    if !user.uid.is_empty() {
        add("x-remote-uid", &user.uid);
    }
    for group in &user.groups {
        add("x-remote-group", group);
    }
    for (key, values) in &user.extra {
        let name = format!("x-remote-extra-{}", key.to_lowercase().replace('/', "%2f"));
        for value in values {
            add(&name, value);
        }
    }
    headers
}

fn to_reply(answer: Streamed) -> Reply {
    let (parts, body) = answer.into_parts();
    let (body, headers) = (passed_on(body), response_headers(&parts.headers));
    Reply { body, headers, ..Reply::json(parts.status.as_u16(), Bytes::new()) }
}
