//! An HTTPS server with its own accept loop: HTTP/2 or HTTP/1.1 as negotiated, the peer in the extensions of requests,
//! limits for slow and silent clients, graceful shutdown.

mod any_client;
mod certificate;
mod connection;
mod host;
mod requests;
mod tls;

use std::convert::Infallible;
use std::error::Error;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Buf;
use http::{Request, Response};
use hyper::body::Incoming;
use rustls::ServerConfig;
use rustls_pki_types::CertificateDer;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

pub use certificate::{CertificateError, CertificateFolder, Certificates};
pub(crate) use tls::provider;
pub use tls::{TlsError, TlsOptions, config, trusted};

/// The client of a connection, in the extensions of every request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer {
    /// Its address.
    pub address: SocketAddr,
    /// Its certificate chain, its own certificate first, verified with the client authorities, unless
    /// [`TlsOptions::unverified_clients`] is set. Empty if it sent none.
    pub certificates: Arc<[CertificateDer<'static>]>,
}

/// Limits for clients: time and connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// Time from accepting a connection to the head of its first request, including TLS handshake and HTTP/2 preface.
    pub first_request: Duration,
    /// Time without an open request; also the time for the head of a further HTTP/1.1 request.
    pub idle: Duration,
    /// Time for open requests when the server shuts down.
    pub drain: Duration,
    /// Maximum number of connections; further clients wait for a free one.
    pub connections: usize,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            first_request: Duration::from_secs(10),
            // Go clients keep idle connections for the same time.
            idle: Duration::from_secs(90),
            drain: Duration::from_mins(1),
            connections: descriptors(2),
        }
    }
}

/// One of `parts` equal shares of the process's limit of file descriptors, at least one, so that the servers of a process
/// can share them.
#[must_use]
pub fn descriptors(parts: usize) -> usize {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    let limit = limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(1 << 20);
    (limit / parts.max(1)).clamp(1, Semaphore::MAX_PERMITS)
}

/// Serves `service` on `listener` until `shutdown` resolves, then waits for open requests.
///
/// With `tls`, ALPN selects HTTP/2 or HTTP/1.1; without, the server uses HTTP/1.1 without encryption. Every request has its
/// [`Peer`] as an extension. Requests still open after [`Patience::drain`] are aborted.
pub async fn serve<S, B>(
    listener: TcpListener,
    tls: Option<Arc<ServerConfig>>,
    service: S,
    patience: Patience,
    shutdown: impl Future<Output = ()> + Send,
) where
    S: tower::Service<Request<Incoming>, Response = Response<B>, Error = Infallible>
        + Clone
        + Send
        + Sync
        + 'static,
    S::Future: Send,
    B: hyper::body::Body<Data: Buf + Send, Error: Into<Box<dyn Error + Send + Sync>>>
        + Send
        + Unpin
        + 'static,
{
    let stop = CancellationToken::new();
    let permits = Arc::new(Semaphore::new(patience.connections));
    let mut connections = JoinSet::new();
    let mut shutdown = std::pin::pin!(shutdown);
    let mut is_failing = false;
    loop {
        let accepted = tokio::select! {
            () = &mut shutdown => break,
            Some(_ended) = connections.join_next() => continue,
            accepted = accept(&listener, &permits) => accepted,
        };
        let (stream, address, permit) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                // Usually out of file descriptors, which closing connections will free.
                if !std::mem::replace(&mut is_failing, true) {
                    tracing::error!(%error, "failed to accept connections");
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        is_failing = false;
        let (tls, service, stop) = (tls.clone(), service.clone(), stop.clone());
        connections.spawn(async move {
            connection::run(stream, address, tls, service, patience, stop).await;
            drop(permit);
        });
    }
    drop(listener);
    stop.cancel();
    let drained = async { while connections.join_next().await.is_some() {} };
    if tokio::time::timeout(patience.drain, drained).await.is_err() {
        tracing::warn!(drain = ?patience.drain, "requests still open after the drain are cut off");
    }
}

/// Waits for a permit, then for the next connection.
async fn accept(
    listener: &TcpListener,
    permits: &Arc<Semaphore>,
) -> io::Result<(TcpStream, SocketAddr, OwnedSemaphorePermit)> {
    let permit = Arc::clone(permits).acquire_owned().await.map_err(io::Error::other)?;
    let (stream, address) = listener.accept().await?;
    // A review is one small write, and Nagle's algorithm would delay it by 40 ms. An error means that the client has
    // disconnected, which the next read reports.
    let _disconnected = stream.set_nodelay(true);
    Ok((stream, address, permit))
}
