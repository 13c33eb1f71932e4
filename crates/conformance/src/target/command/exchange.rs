//! A request to a server of a started program, over a separate connection.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use contract::process::{Protocol, ServerRequest};
use http::{Request, Response, Version, header};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls_pki_types::ServerName;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use webhook::trust::{Trust, client_config};

use crate::mask;
use crate::target::plain;

/// How long the exchange may take.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The most that is read of a response's body.
const MOST: usize = 8 * 1024 * 1024;

/// Sends a request to the server at `address`, whose certificate `authority` (PEM) signed. Gives
/// `{"status": 200, "protocol": "HTTP/1.1", "headers": {…}, "body": "…"}`, or `{"error": "…"}` where no response came.
pub(super) async fn send(address: &str, request: &ServerRequest, authority: Vec<u8>) -> Value {
    match tokio::time::timeout(TIMEOUT, exchange(address, request, authority)).await {
        Ok(Ok(response)) => response,
        Ok(Err(error)) => json!({"error": mask::masked_text(&error)}),
        Err(_) => json!({"error": format!("no response within {} s", TIMEOUT.as_secs())}),
    }
}

async fn exchange(address: &str, request: &ServerRequest, authority: Vec<u8>) -> Result<Value, String> {
    let (host, _) = plain::parts(address).ok_or_else(|| format!("{address} is no address"))?;
    let stream = TcpStream::connect(&host).await.map_err(|error| format!("failed to connect: {error}"))?;
    let with_tls = request.tls.unwrap_or_else(|| address.starts_with("https://"));
    if !with_tls {
        return over(stream, ("http", &host), request).await;
    }
    let mut config = client_config(&Trust::Bundle(authority))?;
    config.alpn_protocols = match request.protocol {
        Protocol::Http1 => vec![b"http/1.1".to_vec()],
        Protocol::Http2 => vec![b"h2".to_vec()],
    };
    let name =
        host.rsplit_once(':').map_or(host.as_str(), |(name, _)| name).trim_matches(['[', ']']).to_owned();
    let name = ServerName::try_from(name).map_err(|error| error.to_string())?;
    let stream = TlsConnector::from(Arc::new(config)).connect(name, stream).await;
    let stream = stream.map_err(|error| format!("failed to shake hands: {error}"))?;
    if request.protocol == Protocol::Http2 && stream.get_ref().1.alpn_protocol() != Some(b"h2") {
        return Err("the server does not offer HTTP/2".to_owned());
    }
    over(stream, ("https", &host), request).await
}

async fn over<S>(stream: S, authority: (&str, &str), wanted: &ServerRequest) -> Result<Value, String>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let failed = |error: hyper::Error| format!("failed to send the request: {error}");
    let io = TokioIo::new(stream);

    match wanted.protocol {
        Protocol::Http1 => {
            let (mut sender, connection) = http1::handshake(io).await.map_err(failed)?;
            let connection = tokio::spawn(connection);
            let response = sender.send_request(message(wanted, authority)?).await.map_err(failed)?;
            let response = read(response).await;
            connection.abort();
            response
        }
        Protocol::Http2 => {
            let (mut sender, connection) =
                http2::handshake(TokioExecutor::new(), io).await.map_err(failed)?;
            let connection = tokio::spawn(connection);
            let response = sender.send_request(message(wanted, authority)?).await.map_err(failed)?;
            let response = read(response).await;
            connection.abort();
            response
        }
    }
}

fn message(wanted: &ServerRequest, (scheme, host): (&str, &str)) -> Result<Request<Full<Bytes>>, String> {
    let mut request = Request::builder().method(wanted.method.as_str());
    request = match wanted.protocol {
        Protocol::Http1 => request.uri(&wanted.path).header(header::HOST, host),
        Protocol::Http2 => request.version(Version::HTTP_2).uri(format!("{scheme}://{host}{}", wanted.path)),
    };
    for (name, value) in &wanted.headers {
        request = request.header(name, value);
    }
    request.body(Full::new(Bytes::from(wanted.body.clone()))).map_err(|error| error.to_string())
}

async fn read(response: Response<Incoming>) -> Result<Value, String> {
    let (head, body) = response.into_parts();
    let body = Limited::new(body, MOST)
        .collect()
        .await
        .map_err(|error| format!("failed to read the response: {error}"))?;
    let mut headers: BTreeMap<String, String> = BTreeMap::new();
    for (name, value) in &head.headers {
        let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
        let values = headers.entry(name.to_string()).or_default();
        if !values.is_empty() {
            values.push_str(", ");
        }
        values.push_str(&value);
    }
    let body = String::from_utf8_lossy(&body.to_bytes()).into_owned();
    Ok(json!({
        "status": head.status.as_u16(),
        "protocol": if head.version == Version::HTTP_2 { "HTTP/2" } else { "HTTP/1.1" },
        "headers": headers,
        "body": body,
    }))
}
