//! The in-process API server: no process, no port, unless someone outside must read it.

use std::path::Path;
use std::sync::Arc;

use apiserver::ApiServer;
use webhook::dial::Dialers;

/// A started server.
pub struct Embedded {
    server: ApiServer,
}

/// Why it could not be started.
#[derive(Debug, thiserror::Error)]
pub enum EmbeddedError {
    /// It could not be served over TLS.
    #[error("failed to serve the embedded API server: {0}")]
    Serve(String),
}

impl Embedded {
    /// Starts a server with Kubernetes' kinds and the CRDs of the project; `outside`: also over TLS, with a kubeconfig.
    /// `dialers` reach the webhooks that are registered in it.
    ///
    /// # Errors
    /// When it cannot be served over TLS.
    pub async fn start(outside: bool, dialers: Option<Arc<dyn Dialers>>) -> Result<Self, EmbeddedError> {
        let mut builder = ApiServer::builder().crds(schema::crds().iter().cloned());
        if let Some(dialers) = dialers {
            builder = builder.dialers(dialers);
        }
        let server = builder.build();
        if outside {
            return Err(EmbeddedError::Serve("the TLS front is not there yet".to_owned()));
        }
        Ok(Self { server })
    }

    /// A client in this process.
    #[must_use]
    pub fn client(&self) -> kube::Client {
        kube::Client::new(self.server.clone(), "default")
    }

    /// A kubeconfig for others; absent unless it is served over TLS.
    #[must_use]
    pub fn kubeconfig(&self) -> Option<&Path> {
        None
    }

    /// Ends it.
    pub async fn stop(self) {}
}
