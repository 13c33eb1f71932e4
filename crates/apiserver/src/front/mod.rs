//! The front end: serves over TLS, for kubectl and components in other processes.

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
use authenticate::Authenticator;
use certificates::ClientCertificates;

/// A listening server. Dropping it stops it at once; [`Served::shutdown`] lets open requests finish.
#[derive(Debug)]
pub struct Served {
    /// `https://127.0.0.1:40123`.
    pub url: String,
    /// The certificate authority of the server's certificate, PEM.
    pub ca_pem: String,
    /// The bearer token of the administrator.
    pub token: String,
    /// The client certificate of the administrator: user `admin`, group `system:masters`.
    pub client: KeyPair,
    listening: Listening,
}

/// A server that listens with a given certificate. Dropping it stops it at once; [`Listening::shutdown`] lets open
/// requests finish.
#[derive(Debug)]
pub struct Listening {
    /// `https://127.0.0.1:40123`.
    pub url: String,
    stop: oneshot::Sender<()>,
    running: JoinHandle<()>,
}

/// Reason why a server does not listen.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The address is in use or not available.
    #[error("failed to listen on {address}")]
    Listen {
        /// The requested address.
        address: SocketAddr,
        /// The operating system's error.
        source: std::io::Error,
    },
    /// A certificate could not be generated.
    #[error("failed to make certificates")]
    Certificates(#[from] rcgen::Error),
    /// The certificate cannot be used.
    #[error("failed to use the certificate of the server")]
    Certificate(#[from] webhook::server::CertificateError),
    /// Authorities of client certificates cannot be read.
    #[error("failed to read the authorities of {of}")]
    Authorities {
        /// `client certificates` or `front proxies`.
        of: &'static str,
        /// The reason.
        source: NoAuthority,
    },
    /// TLS could not be set up.
    #[error("failed to set up TLS")]
    Tls(#[from] webhook::server::TlsError),
}

impl ApiServer {
    /// Serves on `address` (port 0 selects a free one) over TLS, with the server's certificate authority, in this
    /// runtime.
    ///
    /// # Errors
    /// When it cannot listen on the address, or cannot generate a certificate.
    pub async fn serve(&self, address: SocketAddr) -> Result<Served, ServeError> {
        let authority = self.authority()?;
        let client = authority.client("admin", &["system:masters"])?;
        let ca_pem = authority.pem();
        let listening = self.serve_with(address, &authority.server(address.ip())?).await?;
        // The only randomness beside the keys: the token must not follow from the seed.
        let token = uuid::Uuid::new_v4().to_string();
        self.tokens().register(token.clone(), User::admin());
        Ok(Served { url: listening.url.clone(), ca_pem, token, client, listening })
    }

    /// Serves on `address` over TLS with this certificate, in this runtime. Authenticates clients as
    /// [`crate::Builder::authentication`] sets.
    ///
    /// # Errors
    /// When it cannot listen on the address, or cannot use a certificate.
    pub async fn serve_with(&self, address: SocketAddr, server: &KeyPair) -> Result<Listening, ServeError> {
        let certificates =
            Certificates::from_pem(server.certificate_pem.as_bytes(), server.key_pem.as_bytes())?;
        let clients = ClientCertificates::new(self.authentication(), self.authority()?)?;
        let unverified_clients = Some(clients.authorities());
        let tls = config(Arc::new(certificates), TlsOptions { unverified_clients, ..TlsOptions::default() })?;
        let listen = |source| ServeError::Listen { address, source };
        let listener = TcpListener::bind(address).await.map_err(listen)?;
        let url = format!("https://{}", listener.local_addr().map_err(listen)?);
        self.tokens().set_url(&url);
        let service = Authenticator::new(self.clone(), Arc::new(clients));
        let (stop, stopped) = oneshot::channel();
        let running = tokio::spawn(async move {
            let shutdown = async { stopped.await.unwrap_or_default() };
            webhook::server::serve(listener, Some(tls), service, Patience::default(), shutdown).await;
        });
        Ok(Listening { url, stop, running })
    }
}

impl Listening {
    /// Stops listening, and waits until open requests are answered.
    pub async fn shutdown(self) {
        // The error means that the server has stopped already.
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

    /// Stops listening, and waits until open requests are answered.
    pub async fn shutdown(self) {
        self.listening.shutdown().await;
    }
}
