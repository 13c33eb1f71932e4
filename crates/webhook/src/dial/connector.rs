//! Opens TLS connections to one address.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http::Uri;
use hyper_util::client::legacy::connect::{Connected, Connection};
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use rustls_pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// The step of connecting that failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum ConnectError {
    #[error("failed to connect: {0}")]
    Tcp(#[source] io::Error),
    #[error("failed to shake hands: {0}")]
    Tls(#[source] io::Error),
}

#[derive(Clone)]
pub(super) struct Connector {
    address: Arc<str>,
    name: ServerName<'static>,
    tls: TlsConnector,
}

impl Connector {
    pub(super) fn new(address: String, name: ServerName<'static>, config: ClientConfig) -> Self {
        Self { address: address.into(), name, tls: TlsConnector::from(Arc::new(config)) }
    }
}

impl std::fmt::Debug for Connector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connector").field("address", &self.address).finish_non_exhaustive()
    }
}

impl tower::Service<Uri> for Connector {
    type Response = TokioIo<TlsConnection>;
    type Error = ConnectError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, ConnectError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), ConnectError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Uri) -> Self::Future {
        let Self { address, name, tls } = self.clone();
        Box::pin(async move {
            let stream = TcpStream::connect(&*address).await.map_err(ConnectError::Tcp)?;
            stream.set_nodelay(true).map_err(ConnectError::Tcp)?;
            let stream = tls.connect(name, stream).await.map_err(ConnectError::Tls)?;
            Ok(TokioIo::new(TlsConnection(stream)))
        })
    }
}

/// A TLS connection that reports the negotiated protocol to the pool.
#[derive(Debug)]
pub(super) struct TlsConnection(TlsStream<TcpStream>);

impl Connection for TlsConnection {
    fn connected(&self) -> Connected {
        let connected = Connected::new();
        if self.0.get_ref().1.alpn_protocol() == Some(b"h2") { connected.negotiated_h2() } else { connected }
    }
}

impl AsyncRead for TlsConnection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, buffer)
    }
}

impl AsyncWrite for TlsConnection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, buffer)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}
