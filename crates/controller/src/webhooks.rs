//! The webhook server of a process: TLS with a certificate that is reloaded while it is served, and the readiness
//! check.

pub mod component;
pub mod print;

use std::convert::Infallible;
use std::future::Future;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use formats::exposition::Family;
use webhook::dial::{DialError, Dialer as _, Https, Target, Trust};
use webhook::server::{self, CertificateError, CertificateFolder, Patience, TlsError, TlsOptions};
use webhook::service::WebhookService;

use crate::metrics;
use crate::process::{self, Process, ProcessError};

/// How often the certificate files are read; kubelet takes longer to update them.
const CERTIFICATE_PERIOD: Duration = Duration::from_secs(5);
/// How long the answer to the server's own check may take.
const CHECK: Duration = Duration::from_secs(5);

/// Why webhooks are not served.
#[derive(Debug, thiserror::Error)]
pub enum WebhooksError {
    /// The certificate cannot be loaded.
    #[error("failed to load the serving certificate: {0}")]
    Certificate(#[from] CertificateError),
    /// TLS cannot be set up.
    #[error("{0}")]
    Tls(#[from] TlsError),
    /// The address cannot be listened on.
    #[error("{0}")]
    Process(#[from] ProcessError),
    /// The readiness check cannot be set up.
    #[error("failed to set up the check of the webhook server: {0}")]
    Check(#[from] DialError),
}

/// The result of a check of the server.
pub type CheckFuture = Pin<Box<dyn Future<Output = Result<(), String>> + Send>>;

/// Webhooks that a process serves.
#[derive(Debug)]
pub struct ServedWebhooks {
    certificates: Arc<CertificateFolder>,
    dialer: Https,
}

/// Loads the certificate of a folder, `tls.crt` and `tls.key`; an empty path means controller-runtime's default
/// folder.
///
/// # Errors
/// When it is missing or cannot be used.
pub fn certificates(folder: &str) -> Result<Arc<CertificateFolder>, WebhooksError> {
    let folder = match folder {
        "" => std::env::temp_dir().join("k8s-webhook-server").join("serving-certs"),
        folder => PathBuf::from(folder),
    };
    Ok(Arc::new(CertificateFolder::open(folder)?))
}

/// Serves webhooks until the process ends; open requests then have `grace` to finish.
///
/// # Errors
/// When TLS cannot be set up or the address cannot be listened on.
pub async fn serve(
    process: &mut Process,
    (address, port): (&str, u16),
    service: WebhookService,
    certificates: Arc<CertificateFolder>,
    grace: Duration,
) -> Result<ServedWebhooks, WebhooksError> {
    let tls = server::config(certificates.certificates(), TlsOptions::default())?;
    let listener = process::listen(address, port).await?;
    let bound = listener
        .local_addr()
        .map_err(|source| ProcessError::Listen { address: address.to_owned(), source })?;
    tracing::info!(address = %bound, "Serving webhook server");
    let dialer = Https::new(&Target {
        url: format!("https://{}", reachable(bound, has_ipv6())),
        address: None,
        server_name: None,
        trust: Trust::Insecure,
    })?;
    let stop = process.stop();
    let patience = Patience { drain: grace, ..Patience::default() };
    process.spawn("webhook server", async move {
        server::serve(listener, Some(tls), service, patience, stop.cancelled_owned()).await;
        Ok::<(), Infallible>(())
    });
    let (followed, stop) = (Arc::clone(&certificates), process.stop());
    process.spawn("certificate watch", async move {
        stop.run_until_cancelled_owned(followed.follow(CERTIFICATE_PERIOD)).await;
        Ok::<(), Infallible>(())
    });
    Ok(ServedWebhooks { certificates, dialer })
}

impl ServedWebhooks {
    /// A check whether the server answers; any answer over TLS counts.
    pub fn check(&self) -> impl Fn() -> CheckFuture + Send + Sync + use<> {
        let dialer = self.dialer.clone();
        move || {
            let dialer = dialer.clone();
            Box::pin(async move {
                dialer.post("/", Bytes::new(), CHECK).await.map(|_| ()).map_err(|error| error.to_string())
            })
        }
    }

    /// Counts of reads of the certificate.
    pub fn metrics(&self) -> impl Fn() -> Vec<Family> + Send + Sync + use<> {
        let certificates = Arc::clone(&self.certificates);
        metrics::certificates(move || certificates.counts())
    }
}

/// The address at which the process reaches itself. A container may listen on all addresses and have no IPv6
/// loopback.
fn reachable(address: SocketAddr, has_ipv6: bool) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V6(ip) if ip.is_unspecified() && has_ipv6 => Ipv6Addr::LOCALHOST.into(),
        ip if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

/// Whether there is an IPv6 loopback address.
fn has_ipv6() -> bool {
    UdpSocket::bind((Ipv6Addr::LOCALHOST, 0)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_on_all_addresses_is_reached_over_an_existing_loopback() {
        for (listens, has_ipv6, reached) in [
            ("0.0.0.0:1", true, "127.0.0.1:1"),
            ("[::]:1", true, "[::1]:1"),
            ("[::]:1", false, "127.0.0.1:1"),
            ("192.0.2.1:1", false, "192.0.2.1:1"),
            ("[2001:db8::1]:1", false, "[2001:db8::1]:1"),
        ] {
            let found = reachable(listens.parse().unwrap(), has_ipv6);
            assert_eq!(found.to_string(), reached, "{listens}, IPv6: {has_ipv6}");
        }
    }
}
