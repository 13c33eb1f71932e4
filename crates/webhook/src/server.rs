//! An HTTPS server: own accept loop, HTTP/2 or HTTP/1.1 as the client asks, peer facts in request extensions,
//! limits on slow and silent clients, graceful drain.

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

/// Who is on the other side; found in the extensions of every request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer {
    /// Its address.
    pub address: SocketAddr,
    /// The certificates it showed, its own first; verified against the client authorities, unless
    /// [`TlsOptions::unverified_clients`] is set. Empty without any.
    pub certificates: Arc<[CertificateDer<'static>]>,
}

/// What clients may take: time and connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// From the accepted connection to the head of its first request: TLS handshake, preface of HTTP/2 and all.
    pub first_request: Duration,
    /// Without an open request; for the head of a further HTTP/1.1 request, too.
    pub idle: Duration,
    /// For open requests once the server is told to stop.
    pub drain: Duration,
    /// How many may be connected at once; others wait until one leaves.
    pub connections: usize,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            first_request: Duration::from_secs(10),
            // Go clients keep connections idle for as long.
            idle: Duration::from_secs(90),
            drain: Duration::from_mins(1),
            connections: descriptors(2),
        }
    }
}

/// This part of the file descriptors that the process may have, at least one: servers of one process leave each other some.
#[must_use]
pub fn descriptors(parts: usize) -> usize {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    let limit = limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(1 << 20);
    (limit / parts.max(1)).clamp(1, Semaphore::MAX_PERMITS)
}

/// Serves `service` on `listener` until `shutdown` resolves, then lets open requests end.
///
/// With `tls`, ALPN decides between HTTP/2 and HTTP/1.1; without, HTTP/1.1 is spoken in the clear.
/// Every request carries its [`Peer`] as an extension. Requests still open after [`Patience::drain`] are cut off.
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
    let places = Arc::new(Semaphore::new(patience.connections));
    let mut connections = JoinSet::new();
    let mut shutdown = std::pin::pin!(shutdown);
    let mut refused = false;
    loop {
        let accepted = tokio::select! {
            () = &mut shutdown => break,
            Some(_ended) = connections.join_next() => continue,
            accepted = accept(&listener, &places) => accepted,
        };
        let (stream, address, place) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                // Out of file descriptors, mostly: connections that end will free some.
                if !std::mem::replace(&mut refused, true) {
                    tracing::error!(%error, "failed to accept connections");
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        refused = false;
        let (tls, service, stop) = (tls.clone(), service.clone(), stop.clone());
        connections.spawn(async move {
            connection::run(stream, address, tls, service, patience, stop).await;
            drop(place);
        });
    }
    drop(listener);
    stop.cancel();
    let drained = async { while connections.join_next().await.is_some() {} };
    if tokio::time::timeout(patience.drain, drained).await.is_err() {
        tracing::warn!(drain = ?patience.drain, "requests still open after the drain are cut off");
    }
}

/// The next connection, once there is a place for it.
async fn accept(
    listener: &TcpListener,
    places: &Arc<Semaphore>,
) -> io::Result<(TcpStream, SocketAddr, OwnedSemaphorePermit)> {
    let place = Arc::clone(places).acquire_owned().await.map_err(io::Error::other)?;
    let (stream, address) = listener.accept().await?;
    // A review is one small write; waiting for more costs 40 ms. A client that has left already shows that soon enough.
    let _left = stream.set_nodelay(true);
    Ok((stream, address, place))
}
