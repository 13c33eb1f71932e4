//! kube-apiserver for envtest: the embedded API server over TLS, with kube-apiserver's flags.

mod certificates;
mod known;
mod options;
mod token_file;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use apiserver::flags::{FlagError, GivenFlags, help};
use apiserver::{ApiServer, Listening, ServeError};
use jiff::Timestamp;
use schema::KubernetesVersion;
use webhook::dial::FixedDialers;

use super::output::{print, start_log};
use crate::signals;
use known::{ADDRESS, FLAGS, PORT};
use options::{FrontProxy, ServerOptions};

const ABOUT: &str = "kube-apiserver for envtest: gardener-conformance's embedded API server, which keeps its objects in \
                     memory.";
/// How long open requests may take when the server stops.
const DRAIN: Duration = Duration::from_millis(300);

/// Serves the API of a version of Kubernetes until SIGINT or SIGTERM.
pub(super) fn run(arguments: Vec<String>, kubernetes: KubernetesVersion) -> Result<(), String> {
    let given = GivenFlags::read(FLAGS, arguments).map_err(|error| error.to_string())?;
    if given.has("help") || given.has("h") {
        print(&help(ABOUT, FLAGS));
        return Ok(());
    }
    if given.has("version") {
        print(&format!("Kubernetes v{kubernetes}"));
        return Ok(());
    }
    start_log(&given).map_err(|error| error.to_string())?;
    let options = ServerOptions::from_flags(&given).map_err(|error| error.to_string())?;
    let runtime = crate::runtime::multi_thread();
    let runtime = runtime.map_err(|error| format!("failed to start: {error}"))?;
    let result = runtime.block_on(serve(options, kubernetes));
    // A watch may never end by itself.
    runtime.shutdown_background();
    result.map_err(|error| error.to_string())
}

async fn serve(options: ServerOptions, kubernetes: KubernetesVersion) -> Result<(), FlagError> {
    let mut signal = std::pin::pin!(signals::interrupt_or_terminate());
    let listening = tokio::select! {
        // Polling the signal first installs its handlers.
        biased;
        _signal = &mut signal => return Ok(()),
        listening = start(options, kubernetes) => listening?,
    };
    tracing::info!(url = listening.url, "serves the embedded API server of Kubernetes {kubernetes}");
    signal.await;
    tracing::info!("stops");
    // Open watches are cut off.
    let _drained = tokio::time::timeout(DRAIN, listening.shutdown()).await;
    Ok(())
}

async fn start(options: ServerOptions, kubernetes: KubernetesVersion) -> Result<Listening, FlagError> {
    let (address, certificate) = (options.address, options.certificate.clone());
    let listening = build(options, kubernetes).serve_with(address, &certificate).await;
    listening.map_err(|error| match error {
        ServeError::Listen { source, .. } if source.kind() == io::ErrorKind::AddrNotAvailable => {
            FlagError::of_value(ADDRESS, &address.ip().to_string(), source.to_string())
        }
        ServeError::Listen { source, .. } => {
            let reason = format!("failed to listen on {address}: {source}");
            FlagError::of_value(PORT, &address.port().to_string(), reason)
        }
        // All other options were checked while reading the flags.
        other => FlagError::new("tls-cert-file", other.to_string()),
    })
}

/// A server as in envtest: no controllers, and the objects that kube-apiserver writes when it starts.
fn build(options: ServerOptions, kubernetes: KubernetesVersion) -> ApiServer {
    let builder = ApiServer::builder()
        .kubernetes(kubernetes)
        .epoch(Timestamp::now())
        .namespace_controller(false)
        .post_start_hooks(true)
        .dialers(Arc::new(FixedDialers::new()))
        .authorization(options.authorization)
        .authentication(options.authentication)
        .advertised(options.advertised)
        .issuers(options.issuers)
        .audiences(options.audiences)
        .verifying_keys(options.verifying)
        .service_account_admission(options.service_account_admission);
    let builder = options.signing.into_iter().fold(builder, apiserver::Builder::signing_key);
    let server = match options.front_proxy {
        FrontProxy::Own => builder,
        FrontProxy::Given(certificate) => builder.front_proxy(certificate),
    };
    let server = server.build();
    for (token, user) in options.tokens {
        server.add_token(token, user);
    }
    server
}
