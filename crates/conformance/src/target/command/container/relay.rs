//! Forwards connections from a port that containers reach to a server on this machine's loopback address.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs as _, UdpSocket};

use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// Forwards connections until it is dropped.
pub(super) struct Relay {
    address: SocketAddr,
    serving: JoinHandle<()>,
}

impl Relay {
    /// Listens on the address from which this machine connects to `host`, and forwards to `to`, `HOST:PORT`.
    pub(super) async fn open(host: &str, to: String) -> io::Result<Self> {
        let listener = TcpListener::bind((towards(host)?, 0)).await?;
        let address = listener.local_addr()?;
        let serving = tokio::spawn(async move {
            // Callers reconnect after a broken connection.
            while let Ok((mut inner, _)) = listener.accept().await {
                let to = to.clone();
                tokio::spawn(async move {
                    let mut outer = TcpStream::connect(to).await?;
                    tokio::io::copy_bidirectional(&mut inner, &mut outer).await
                });
            }
        });
        Ok(Self { address, serving })
    }

    /// The address on which it listens.
    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// The local address for packets to a host; sends none.
fn towards(host: &str) -> io::Result<IpAddr> {
    let there = (host, 9).to_socket_addrs()?.next().ok_or(io::ErrorKind::NotFound)?;
    let any =
        if there.is_ipv4() { IpAddr::from(Ipv4Addr::UNSPECIFIED) } else { Ipv6Addr::UNSPECIFIED.into() };
    let socket = UdpSocket::bind((any, 0))?;
    socket.connect(there)?;
    Ok(socket.local_addr()?.ip())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    #[tokio::test]
    async fn connections_are_forwarded_until_it_is_dropped() {
        let echo = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let to = echo.local_addr().unwrap().to_string();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = echo.accept().await {
                let (mut reader, mut writer) = stream.split();
                tokio::io::copy(&mut reader, &mut writer).await.unwrap();
            }
        });
        let relay = Relay::open("127.0.0.1", to).await.unwrap();
        let address = relay.address();
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(b"words").await.unwrap();
        stream.shutdown().await.unwrap();
        let mut message = String::new();
        stream.read_to_string(&mut message).await.unwrap();
        assert_eq!(message, "words");
        drop(relay);
        tokio::task::yield_now().await;
        assert!(TcpStream::connect(address).await.is_err(), "it still listens");
    }
}
