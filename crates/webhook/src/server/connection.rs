//! Serves one connection: handshake, protocol, requests, graceful close.

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

use super::requests::{OpenRequest, RequestTracker, TrackedBody};
use super::{Patience, Peer, host};

/// Time that a client has to notice the graceful close.
const CLOSE_GRACE: Duration = Duration::from_millis(500);

/// A service that can answer the requests of a connection.
trait HttpService<B>:
    tower::Service<Request<Incoming>, Response = Response<B>, Error = Infallible, Future: Send>
    + Clone
    + Send
    + Sync
    + 'static
{
}

impl<S, B> HttpService<B> for S where
    S: tower::Service<Request<Incoming>, Response = Response<B>, Error = Infallible, Future: Send>
        + Clone
        + Send
        + Sync
        + 'static
{
}

/// Limits on the lifetime of a connection.
struct ConnectionLifetime {
    /// Deadline of its first request.
    first: Instant,
    patience: Patience,
    stop: CancellationToken,
}

/// Serves one client until it disconnects, is idle for too long, or `stop` is cancelled and its open requests are answered.
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
    let limits = ConnectionLifetime { first: Instant::now() + patience.first_request, patience, stop };
    let Some(tls) = tls else {
        let peer = Peer { address, certificates: Arc::new([]) };
        return serve_http1(stream, peer, service, limits).await;
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
    let peer = Peer {
        address,
        certificates: certificates.iter().map(|certificate| certificate.clone().into_owned()).collect(),
    };
    if session.alpn_protocol() == Some(b"h2") {
        serve_http2(stream, peer, service, limits).await;
    } else {
        serve_http1(stream, peer, service, limits).await;
    }
}

async fn serve_http1<I, S, B>(stream: I, peer: Peer, service: S, limits: ConnectionLifetime)
where
    I: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    S: HttpService<B>,
    B: Body<Data: Buf + Send, Error: Into<Box<dyn Error + Send + Sync>>> + Send + Unpin + 'static,
{
    let (requests, address) = (RequestTracker::new(), peer.address);
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

async fn serve_http2<I, S, B>(stream: I, peer: Peer, service: S, limits: ConnectionLifetime)
where
    I: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    S: HttpService<B>,
    B: Body<Data: Buf + Send, Error: Into<Box<dyn Error + Send + Sync>>> + Send + Unpin + 'static,
{
    const MIB: u32 = 1024 * 1024;
    let (requests, address) = (RequestTracker::new(), peer.address);
    let open = requests.clone();
    let connection = http2::Builder::new(TokioExecutor::new())
        .timer(TokioTimer::new())
        .max_concurrent_streams(250)
        .initial_stream_window_size(MIB)
        .initial_connection_window_size(2 * MIB)
        // Detects peers that vanished without closing the connection.
        .keep_alive_interval(Duration::from_secs(30))
        .serve_connection(
            TokioIo::new(stream),
            service_fn(move |request| answer(service.clone(), request, peer.clone(), open.open())),
        );
    drive(connection, http2::Connection::graceful_shutdown, address, &requests, &limits).await;
}

/// Drives a connection until it ends or exceeds its limits. In the latter case, closes it gracefully and drops it as soon
/// as no request is open.
async fn drive<C>(
    connection: C,
    go_away: fn(Pin<&mut C>),
    address: SocketAddr,
    requests: &RequestTracker,
    limits: &ConnectionLifetime,
) where
    C: Future<Output = hyper::Result<()>>,
{
    let mut connection = std::pin::pin!(connection);
    let ended = tokio::select! {
        result = connection.as_mut() => Some(result),
        () = requests.wait_until_idle(limits.first, limits.patience.idle) => None,
        () = limits.stop.cancelled() => None,
    };
    let result = if let Some(result) = ended {
        result
    } else {
        go_away(connection.as_mut());
        tokio::select! {
            result = connection => result,
            () = requests.wait_until_answered(CLOSE_GRACE) => return tracing::debug!(%address, "connection was closed"),
        }
    };
    if let Err(error) = result {
        tracing::debug!(%address, %error, "connection ended early");
    }
}

/// Answers a request; `open` is dropped with the body of the response.
async fn answer<S, B>(
    service: S,
    mut request: Request<Incoming>,
    peer: Peer,
    open: OpenRequest,
) -> Result<Response<TrackedBody<B>>, Infallible>
where
    S: HttpService<B>,
{
    if !host::is_valid(&request) {
        let mut bad_request = Response::new(TrackedBody { body: None, _open: open });
        *bad_request.status_mut() = StatusCode::BAD_REQUEST;
        bad_request.headers_mut().insert(header::CONNECTION, header::HeaderValue::from_static("close"));
        return Ok(bad_request);
    }
    request.extensions_mut().insert(peer);
    let response = service.oneshot(request).await?;
    Ok(response.map(|body| TrackedBody { body: Some(body), _open: open }))
}
