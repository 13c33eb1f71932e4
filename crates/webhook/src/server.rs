//! An HTTPS server: own accept loop, HTTP/2 or HTTP/1.1 as the client asks, peer facts in request extensions,
//! limits on slow clients, graceful drain.

mod certificate;
mod connection;
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
    /// The certificates it showed, its own first; verified against the client authorities. Empty without any.
    pub certificates: Arc<[CertificateDer<'static>]>,
}

/// How long clients may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// For the TLS handshake.
    pub handshake: Duration,
    /// For the head of an HTTP/1.1 request; the idle time before it counts too.
    pub head: Duration,
    /// For open requests once the server is told to stop.
    pub drain: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            handshake: Duration::from_secs(10),
            // Go clients keep connections idle for as long.
            head: Duration::from_secs(90),
            drain: Duration::from_mins(1),
        }
    }
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
    B: hyper::body::Body<Data: Buf + Send, Error: Into<Box<dyn Error + Send + Sync>>> + Send + 'static,
{
    let stop = CancellationToken::new();
    let mut connections = JoinSet::new();
    let mut shutdown = std::pin::pin!(shutdown);
    loop {
        let accepted = tokio::select! {
            () = &mut shutdown => break,
            Some(_ended) = connections.join_next() => continue,
            accepted = listener.accept() => accepted,
        };
        let Some((stream, address)) = usable(accepted).await else { continue };
        let (tls, service, stop) = (tls.clone(), service.clone(), stop.clone());
        connections.spawn(connection::run(stream, address, tls, service, patience, stop));
    }
    drop(listener);
    stop.cancel();
    let drained = async { while connections.join_next().await.is_some() {} };
    if tokio::time::timeout(patience.drain, drained).await.is_err() {
        tracing::warn!(drain = ?patience.drain, "requests still open after the drain are cut off");
    }
}

async fn usable(accepted: io::Result<(TcpStream, SocketAddr)>) -> Option<(TcpStream, SocketAddr)> {
    match accepted {
        Ok((stream, address)) => {
            // A review is one small write; waiting for more costs 40 ms.
            stream.set_nodelay(true).ok()?;
            Some((stream, address))
        }
        Err(error) => {
            // Out of file descriptors, mostly: connections that end will free some.
            tracing::error!(%error, "failed to accept a connection");
            tokio::time::sleep(Duration::from_millis(50)).await;
            None
        }
    }
}
