//! Connections to API servers: HTTP/2 with all requests and watches of a client on one connection, or HTTP/1.1 where
//! the server does not support HTTP/2.

use std::error::Error;
use std::time::Duration;

use hyper_rustls::{FixedServerNameResolver, HttpsConnector, HttpsConnectorBuilder};
use hyper_timeout::TimeoutConnector;
use hyper_util::client::legacy::Client as Transport;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use kube::client::retry::RetryPolicy;
use kube::client::{Body, ConfigExt as _, RustlsTlsError};
use kube::{Client, Config};
use rustls::ClientConfig;
use tower::retry::RetryLayer;
use tower::{BoxError, ServiceBuilder};
use webhook::trust::{Authorities, server_verifier, verifier_of_file};

/// After this time without data the client pings the server, as client-go does: watches on a dead connection would
/// hang for ever.
const SILENCE: Duration = Duration::from_secs(30);
/// How long the answer to a ping may take; client-go's value.
const SIGN_OF_LIFE: Duration = Duration::from_secs(15);

/// A client of the cluster; it does not connect yet. Unlike kube's own client it speaks HTTP/2 and logs no requests.
///
/// # Errors
/// When certificates or credentials of the configuration cannot be used, or its proxy is of an unsupported kind.
pub fn client(config: &Config) -> Result<Client, kube::Error> {
    if config.proxy_url.is_some() {
        // kube's own client returns the error for unsupported proxies.
        return Client::try_from(config.clone());
    }
    let transport = Transport::builder(TokioExecutor::new())
        .timer(TokioTimer::new())
        .pool_timer(TokioTimer::new())
        .http2_keep_alive_interval(SILENCE)
        .http2_keep_alive_timeout(SIGN_OF_LIFE)
        .build::<_, Body>(connector(config)?);
    let service = ServiceBuilder::new()
        .layer(config.base_uri_layer())
        .option_layer(config.default_retry.then(|| RetryLayer::new(RetryPolicy::server_retry())))
        .option_layer(config.auth_layer()?)
        .layer(config.extra_headers_layer()?)
        .map_err(BoxError::from)
        .service(transport);
    Ok(Client::new(service, config.default_namespace.clone()))
}

type Connector = TimeoutConnector<HttpsConnector<HttpConnector>>;

fn connector(config: &Config) -> Result<Connector, kube::Error> {
    let mut tcp = HttpConnector::new();
    tcp.enforce_http(false);
    tcp.set_nodelay(true);
    let tls = tls(config)?;
    let mut builder = HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http();
    if let Some(name) = &config.tls_server_name {
        let name = name.clone().try_into().map_err(RustlsTlsError::InvalidServerName);
        let name = name.map_err(kube::Error::RustlsTls)?;
        builder = builder.with_server_name_resolver(FixedServerNameResolver::new(name));
    }
    let mut connector = TimeoutConnector::new(builder.enable_all_versions().wrap_connector(tcp));
    connector.set_connect_timeout(config.connect_timeout);
    connector.set_read_timeout(config.read_timeout);
    connector.set_write_timeout(config.write_timeout);
    connector.set_reset_reader_on_write(config.reset_reader_on_write);
    Ok(connector)
}

/// Kube's TLS configuration, except that it reads CA bundles as Go does.
fn tls(config: &Config) -> Result<ClientConfig, kube::Error> {
    if config.accept_invalid_certs || config.root_cert.is_none() {
        return config.rustls_client_config();
    }
    let untrusted = |error: Box<dyn Error + Send + Sync>| {
        kube::Error::RustlsTls(RustlsTlsError::AddRootCertificate(error))
    };
    let verifier = match (&config.root_cert_file, &config.root_cert) {
        (Some(file), _) => verifier_of_file(file.clone()).map_err(|error| untrusted(error.into()))?,
        (None, authorities) => {
            let authorities = authorities.iter().flatten().map(Vec::as_slice);
            server_verifier(Authorities::from_der(authorities).map_err(|error| untrusted(error.into()))?)
        }
    };
    let mut without = config.clone();
    (without.root_cert, without.root_cert_file) = (Some(Vec::new()), None);
    let mut tls = without.rustls_client_config()?;
    tls.dangerous().set_certificate_verifier(verifier);
    // A resumed session would skip the verifier.
    tls.resumption = rustls::client::Resumption::disabled();
    Ok(tls)
}
