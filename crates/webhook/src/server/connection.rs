//! One connection: handshake, protocol, requests one after another, graceful end.

use std::convert::Infallible;
use std::error::Error;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Buf;
use http::{Request, Response};
use hyper::body::{Body, Incoming};
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use rustls::ServerConfig;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;

use super::{Patience, Peer};

/// Serves one client until it leaves or `stop` is cancelled and its open requests are answered.
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
    B: Body<Data: Buf + Send, Error: Into<Box<dyn Error + Send + Sync>>> + Send + 'static,
{
    let Some(tls) = tls else {
        let peer = Peer { address, certificates: Arc::new([]) };
        return speak_http1(stream, peer, service, patience, stop).await;
    };
    let handshake = tokio::time::timeout(patience.handshake, TlsAcceptor::from(tls).accept(stream));
    let stream = tokio::select! {
        () = stop.cancelled() => return,
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
        speak_http2(stream, peer, service, stop).await;
    } else {
        speak_http1(stream, peer, service, patience, stop).await;
    }
}

async fn speak_http1<I, S, B>(stream: I, peer: Peer, service: S, patience: Patience, stop: CancellationToken)
where
    I: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    S: tower::Service<Request<Incoming>, Response = Response<B>, Error = Infallible>
        + Clone
        + Send
        + Sync
        + 'static,
    S::Future: Send,
    B: Body<Data: Buf + Send, Error: Into<Box<dyn Error + Send + Sync>>> + Send + 'static,
{
    let address = peer.address;
    let service = service_fn(move |request| service.clone().oneshot(introduce(request, &peer)));
    let mut connection = std::pin::pin!(
        http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(patience.head)
            .serve_connection(TokioIo::new(stream), service)
            .with_upgrades()
    );
    let result = tokio::select! {
        result = &mut connection => result,
        () = stop.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    ended(address, result);
}

async fn speak_http2<I, S, B>(stream: I, peer: Peer, service: S, stop: CancellationToken)
where
    I: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    S: tower::Service<Request<Incoming>, Response = Response<B>, Error = Infallible>
        + Clone
        + Send
        + Sync
        + 'static,
    S::Future: Send,
    B: Body<Data: Buf + Send, Error: Into<Box<dyn Error + Send + Sync>>> + Send + 'static,
{
    const MIB: u32 = 1024 * 1024;
    let address = peer.address;
    let service = service_fn(move |request| service.clone().oneshot(introduce(request, &peer)));
    let mut connection = std::pin::pin!(
        http2::Builder::new(TokioExecutor::new())
            .timer(TokioTimer::new())
            .max_concurrent_streams(250)
            .initial_stream_window_size(MIB)
            .initial_connection_window_size(2 * MIB)
            // Finds peers that vanished without a word.
            .keep_alive_interval(Duration::from_secs(30))
            .serve_connection(TokioIo::new(stream), service)
    );
    let result = tokio::select! {
        result = &mut connection => result,
        () = stop.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    ended(address, result);
}

fn introduce(mut request: Request<Incoming>, peer: &Peer) -> Request<Incoming> {
    request.extensions_mut().insert(peer.clone());
    request
}

fn ended(address: SocketAddr, result: hyper::Result<()>) {
    if let Err(error) = result {
        tracing::debug!(%address, %error, "connection ended early");
    }
}
