//! A request on its way to another API server: in the name of whoever asks, and the answer back as it comes.

use std::sync::Arc;

use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Request};
use webhook::dial::{Connection, Dialer, Streamed};

use super::{Backend, availability};
use crate::aggregation::reach;
use crate::call::User;
use crate::http::passing::{answered, passed_on, said_on};
use crate::http::reply::Reply;
use crate::state::Shared;

/// Passes a request on, and gives back what is answered.
pub(crate) async fn pass(
    shared: &Shared,
    backend: Backend,
    parts: &Parts,
    user: &User,
    body: Bytes,
) -> Reply {
    // Nobody looks at what others serve while nobody asks for it.
    if !backend.available && !availability::look(shared, &backend.name).await {
        return Reply::text(503, "service unavailable\n");
    }
    let mut request = Request::new(body);
    *request.method_mut() = parts.method.clone();
    let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
    *request.uri_mut() = path.parse().unwrap_or_default();
    *request.headers_mut() = headers(&parts.headers, user);
    match send(shared, &backend, request).await {
        Ok(answer) => reply(answer),
        Err(why) => Reply::text(503, format!("error trying to reach service: {why}\n")),
    }
}

/// Sends a request of any kind to another API server.
pub(super) async fn send(
    shared: &Shared,
    backend: &Backend,
    request: Request<Bytes>,
) -> Result<Streamed, String> {
    let dialer = dialer(shared, backend)?;
    dialer.pass(request).await.map_err(|error| error.to_string())
}

/// The way to another API server.
pub(super) fn dialer(shared: &Shared, backend: &Backend) -> Result<Arc<dyn Dialer>, String> {
    let dialers = shared.dialers.as_ref().ok_or("this server was given no way to others")?;
    let endpoint = reach::endpoint(shared, &backend.client);
    let shown = if shared.switches.post_start_hooks { shared.front_proxy.certificate() } else { Ok(None) };
    let shown = shown.map_err(|error| format!("failed to make the front proxy's certificate: {error}"))?;
    let over = Connection { endpoint: endpoint.as_deref(), insecure: backend.insecure, certificate: shown };
    dialers.dialer(&backend.client, over).map_err(|error| error.to_string())
}

/// The headers of a request that speaks for a user: what says who else it was goes.
pub(super) fn headers(sent: &HeaderMap, user: &User) -> HeaderMap {
    let spoken_for = |name: &HeaderName| {
        let name = name.as_str();
        name.starts_with("x-remote-") || name.starts_with("impersonate-")
    };
    let mut headers = said_on(sent);
    for name in sent.keys().filter(|name| spoken_for(name)) {
        headers.remove(name);
    }
    let mut say = |name: &str, value: &str| {
        let name = HeaderName::from_bytes(name.as_bytes());
        if let (Ok(name), Ok(value)) = (name, HeaderValue::from_str(value)) {
            headers.append(name, value);
        }
    };
    say("x-remote-user", &user.name);
    if !user.uid.is_empty() {
        say("x-remote-uid", &user.uid);
    }
    for group in &user.groups {
        say("x-remote-group", group);
    }
    for (key, values) in &user.extra {
        let name = format!("x-remote-extra-{}", key.to_lowercase().replace('/', "%2f"));
        for value in values {
            say(&name, value);
        }
    }
    headers
}

fn reply(answer: Streamed) -> Reply {
    let (parts, body) = answer.into_parts();
    let (body, headers) = (passed_on(body), answered(&parts.headers));
    Reply { body, headers, ..Reply::json(parts.status.as_u16(), Bytes::new()) }
}
