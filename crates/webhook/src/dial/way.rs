//! How a connection is opened before TLS is spoken on it.

use std::io;

use async_trait::async_trait;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

/// Leads to one server.
#[async_trait]
pub trait Way: Send + Sync {
    /// Opens a connection.
    ///
    /// # Errors
    /// When nothing is reached.
    async fn open(&self) -> io::Result<Box<dyn Duplex>>;
}

/// What is read from and written to.
pub trait Duplex: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Duplex for T {}

/// TCP to `host:port`.
pub(super) struct Tcp(pub(super) String);

#[async_trait]
impl Way for Tcp {
    async fn open(&self) -> io::Result<Box<dyn Duplex>> {
        let stream = TcpStream::connect(&self.0).await?;
        stream.set_nodelay(true)?;
        Ok(Box::new(stream))
    }
}
