//! Requests to another API server, with the server's certificate and the headers that name the user.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Request};
use webhook::dial::{Connection, Dialer, Streamed};

use super::Backend;
use crate::aggregation::resolve;
use crate::call::User;
use crate::http::forwarding::request_headers;
use crate::state::ServerState;

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
