//! One connection: handshake, protocol, requests one after another, graceful end.

use std::convert::Infallible;
use std::error::Error;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Buf;
use http::{Request, Response, StatusCode, header};
use hyper::body::{Body, Incoming};
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use rustls::ServerConfig;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::Instant;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;

use super::requests::{Held, Open, Requests};
use super::{Patience, Peer, host};

/// So long a client has to take note that the server goes.
const FAREWELL: Duration = Duration::from_millis(500);

/// What a connection is served by.
trait Served<B>:
    tower::Service<Request<Incoming>, Response = Response<B>, Error = Infallible, Future: Send>
    + Clone
    + Send
    + Sync
    + 'static
{
}

impl<S, B> Served<B> for S where
    S: tower::Service<Request<Incoming>, Response = Response<B>, Error = Infallible, Future: Send>
        + Clone
        + Send
        + Sync
        + 'static
{
}

/// Until when a connection lasts.
struct Limits {
    /// When its first request must have come.
    first: Instant,
    patience: Patience,
    stop: CancellationToken,
}

/// Serves one client until it leaves, is silent for too long, or `stop` is cancelled and its open requests are answered.
pub(super) async fn run<S, B>(
    stream: TcpStream,
    address: SocketAddr,
    tls: Option<Arc<ServerConfig>>,
    service: S,
    patience: Patience,
    stop: CancellationToken,
) where
    S: tower::Service<Request<Incoming>, Response = Response<B>, Error = Infallible>
        + Clone
        + Send
        + Sync
        + 'static,
    S::Future: Send,
    B: Body<Data: Buf + Send, Error: Into<Box<dyn Error + Send + Sync>>> + Send + Unpin + 'static,
{
    let limits = Limits { first: Instant::now() + patience.first_request, patience, stop };
    let Some(tls) = tls else {
        let peer = Peer { address, certificates: Arc::new([]) };
        return speak_http1(stream, peer, service, limits).await;
    };
    let handshake = tokio::time::timeout_at(limits.first, TlsAcceptor::from(tls).accept(stream));
    let stream = tokio::select! {
        () = limits.stop.cancelled() => return,
        result = handshake => match result {
            Ok(Ok(stream)) => stream,
            Ok(Err(error)) => return tracing::debug!(%address, %error, "TLS handshake failed"),
            Err(_) => return tracing::debug!(%address, "no TLS handshake in time"),
        },
    };
    let session = stream.get_ref().1;
    let certificates = session.peer_certificates().unwrap_or_default();
    let peer =
        Peer { address, certificates: certificates.iter().map(|one| one.clone().into_owned()).collect() };
    if session.alpn_protocol() == Some(b"h2") {
        speak_http2(stream, peer, service, limits).await;
    } else {
        speak_http1(stream, peer, service, limits).await;
    }
}

async fn speak_http1<I, S, B>(stream: I, peer: Peer, service: S, limits: Limits)
where
    I: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    S: Served<B>,
    B: Body<Data: Buf + Send, Error: Into<Box<dyn Error + Send + Sync>>> + Send + Unpin + 'static,
{
    let (requests, address) = (Requests::new(), peer.address);
    let open = requests.clone();
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.patience.idle)
        .serve_connection(
            TokioIo::new(stream),
            service_fn(move |request| answer(service.clone(), request, peer.clone(), open.open())),
        )
        .with_upgrades();
    drive(connection, http1::UpgradeableConnection::graceful_shutdown, address, &requests, &limits).await;
}

async fn speak_http2<I, S, B>(stream: I, peer: Peer, service: S, limits: Limits)
where
    I: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    S: Served<B>,
    B: Body<Data: Buf + Send, Error: Into<Box<dyn Error + Send + Sync>>> + Send + Unpin + 'static,
{
    const MIB: u32 = 1024 * 1024;
    let (requests, address) = (Requests::new(), peer.address);
    let open = requests.clone();
    let connection = http2::Builder::new(TokioExecutor::new())
        .timer(TokioTimer::new())
        .max_concurrent_streams(250)
        .initial_stream_window_size(MIB)
        .initial_connection_window_size(2 * MIB)
        // Finds peers that vanished without a word.
        .keep_alive_interval(Duration::from_secs(30))
        .serve_connection(
            TokioIo::new(stream),
            service_fn(move |request| answer(service.clone(), request, peer.clone(), open.open())),
        );
    drive(connection, http2::Connection::graceful_shutdown, address, &requests, &limits).await;
}

/// Lets a connection speak until it ends, or may no longer: then it is told, and dropped once nothing is open on it.
async fn drive<C>(
    connection: C,
    go_away: fn(Pin<&mut C>),
    address: SocketAddr,
    requests: &Requests,
    limits: &Limits,
) where
    C: Future<Output = hyper::Result<()>>,
{
    let mut connection = std::pin::pin!(connection);
    let ended = tokio::select! {
        result = connection.as_mut() => Some(result),
        () = requests.silent(limits.first, limits.patience.idle) => None,
        () = limits.stop.cancelled() => None,
    };
    let result = if let Some(result) = ended {
        result
    } else {
        go_away(connection.as_mut());
        tokio::select! {
            result = connection => result,
            () = requests.answered(FAREWELL) => return tracing::debug!(%address, "connection was closed"),
        }
    };
    if let Err(error) = result {
        tracing::debug!(%address, %error, "connection ended early");
    }
}

/// What the service answers to whom; `open` goes with the last byte.
async fn answer<S, B>(
    service: S,
    mut request: Request<Incoming>,
    peer: Peer,
    open: Open,
) -> Result<Response<Held<B>>, Infallible>
where
    S: Served<B>,
{
    if !host::is_good(&request) {
        let mut refusal = Response::new(Held { body: None, _open: open });
        *refusal.status_mut() = StatusCode::BAD_REQUEST;
        refusal.headers_mut().insert(header::CONNECTION, header::HeaderValue::from_static("close"));
        return Ok(refusal);
    }
    request.extensions_mut().insert(peer);
    let response = service.oneshot(request).await?;
    Ok(response.map(|body| Held { body: Some(body), _open: open }))
}
