//! The front door: the server over TLS, for kubectl and components of other processes.

mod authenticate;
mod certificates;
mod kubeconfig;

use std::net::SocketAddr;
use std::sync::Arc;

use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use webhook::server::{Certificates, Patience, TlsOptions, config};
use webhook::trust::NoAuthority;

use crate::authority::KeyPair;
use crate::call::User;
use crate::server::ApiServer;
use authenticate::Door;
use certificates::ClientCertificates;

/// A server that listens. Dropping it ends it at once; [`Served::shutdown`] lets open requests end.
#[derive(Debug)]
pub struct Served {
    /// `https://127.0.0.1:40123`.
    pub url: String,
    /// The authority of the server's certificate.
    pub ca_pem: String,
    /// The bearer token of the administrator.
    pub token: String,
    /// The client certificate of the administrator: user `admin`, group `system:masters`.
    pub client: KeyPair,
    listening: Listening,
}

/// A server that listens with a certificate that was given. Dropping it ends it at once.
#[derive(Debug)]
pub struct Listening {
    /// `https://127.0.0.1:40123`.
    pub url: String,
    stop: oneshot::Sender<()>,
    running: JoinHandle<()>,
}

/// Why a server does not listen.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The address is taken or not ours.
    #[error("failed to listen on {address}")]
    Listen {
        /// The address asked for.
        address: SocketAddr,
        /// The operating system's words.
        source: std::io::Error,
    },
    /// No certificate could be made.
    #[error("failed to make certificates")]
    Certificates(#[from] rcgen::Error),
    /// The certificate cannot be used.
    #[error("failed to use the certificate of the server")]
    Certificate(#[from] webhook::server::CertificateError),
    /// Client certificates cannot be verified.
    #[error("failed to read the authorities of {of}")]
    Authorities {
        /// `client certificates`, `front proxies`.
        of: &'static str,
        /// The reason.
        source: NoAuthority,
    },
    /// TLS could not be set up.
    #[error("failed to set up TLS")]
    Tls(#[from] webhook::server::TlsError),
}

impl ApiServer {
    /// Serves on `address` (port 0 takes a free one) over TLS, with an authority of its own, in this runtime.
    ///
    /// # Errors
    /// When the address cannot be listened on, or no certificate can be made.
    pub async fn serve(&self, address: SocketAddr) -> Result<Served, ServeError> {
        let authority = self.authority()?;
        let client = authority.client("admin", &["system:masters"])?;
        let ca_pem = authority.pem();
        let listening = self.serve_with(address, &authority.server(address.ip())?).await?;
        // The only randomness beside the keys: whoever knows the seed must not know the token.
        let token = uuid::Uuid::new_v4().to_string();
        self.tokens().know(token.clone(), User::admin());
        Ok(Served { url: listening.url.clone(), ca_pem, token, client, listening })
    }

    /// Serves on `address` over TLS with this certificate, in this runtime. Who is let in is what
    /// [`crate::Builder::authentication`] says.
    ///
    /// # Errors
    /// When the address cannot be listened on, or a certificate cannot be used.
    pub async fn serve_with(&self, address: SocketAddr, server: &KeyPair) -> Result<Listening, ServeError> {
        let certificates =
            Certificates::from_pem(server.certificate_pem.as_bytes(), server.key_pem.as_bytes())?;
        let clients = ClientCertificates::new(self.authentication(), self.authority()?)?;
        let unverified_clients = Some(clients.authorities());
        let tls = config(Arc::new(certificates), TlsOptions { unverified_clients, ..TlsOptions::default() })?;
        let listen = |source| ServeError::Listen { address, source };
        let listener = TcpListener::bind(address).await.map_err(listen)?;
        let url = format!("https://{}", listener.local_addr().map_err(listen)?);
        self.tokens().reached_at(&url);
        let door = Door::new(self.clone(), Arc::new(clients));
        let (stop, stopped) = oneshot::channel();
        let running = tokio::spawn(async move {
            let shutdown = async { stopped.await.unwrap_or_default() };
            webhook::server::serve(listener, Some(tls), door, Patience::default(), shutdown).await;
        });
        Ok(Listening { url, stop, running })
    }
}

impl Listening {
    /// Stops to listen, and waits until open requests are answered.
    pub async fn shutdown(self) {
        // A server that is gone already needs no word.
        let _gone = self.stop.send(());
        let _aborted = self.running.await;
    }
}

impl Served {
    /// A kubeconfig for the administrator, with the client certificate.
    #[must_use]
    pub fn kubeconfig(&self) -> String {
        kubeconfig::text(&self.url, &self.ca_pem, &self.client)
    }

    /// Stops to listen, and waits until open requests are answered.
    pub async fn shutdown(self) {
        self.listening.shutdown().await;
    }
}
