//! etcd for envtest: answers `/health` and stores nothing, as the embedded API server keeps its objects in memory.

use std::convert::Infallible;
use std::time::Duration;

use apiserver::flags::{FlagError, FlagForm, GivenFlags, KnownFlag, help};
use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::Full;
use hyper::body::Incoming;
use tokio::net::TcpListener;
use webhook::server::{Patience, serve};

use super::output::{print, start_log};
use crate::signals;

/// The flag with the URLs to listen on.
const CLIENTS: &str = "listen-client-urls";
/// The etcd version with these flags.
const VERSION: &str = "3.6.0";
const ABOUT: &str = "etcd for envtest: answers /health and stores nothing, as gardener-conformance's kube-apiserver keeps \
                     its objects in memory.";

const fn value(name: &'static str, help: &'static str) -> KnownFlag {
    KnownFlag { name, form: FlagForm::Value, help }
}

const FLAGS: &[KnownFlag] = &[
    value(CLIENTS, "http:// URLs to listen on, separated by commas [default: http://localhost:2379]"),
    value("v", "verbosity of the log; debug messages from 4 on"),
    KnownFlag {
        name: "unsafe-no-fsync",
        form: FlagForm::Switch,
        help: "accepted: nothing is written to disk",
    },
    KnownFlag { name: "help", form: FlagForm::Switch, help: "prints this text" },
    KnownFlag { name: "h", form: FlagForm::Switch, help: "prints this text" },
    KnownFlag { name: "version", form: FlagForm::Switch, help: "prints the version" },
    value("advertise-client-urls", ""),
    value("data-dir", ""),
    value("initial-advertise-peer-urls", ""),
    value("initial-cluster", ""),
    value("listen-peer-urls", ""),
    value("log-level", ""),
    value("name", ""),
];

/// Runs until SIGINT or SIGTERM.
pub(super) fn run(arguments: Vec<String>) -> Result<(), String> {
    let given = GivenFlags::read(FLAGS, arguments).map_err(|error| error.to_string())?;
    if given.has("help") || given.has("h") {
        print(&help(ABOUT, FLAGS));
        return Ok(());
    }
    if given.has("version") {
        print(&format!("etcd Version: {VERSION}\n(gardener-conformance {})", env!("CARGO_PKG_VERSION")));
        return Ok(());
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| format!("failed to start: {error}"))?;
    start_log(&given).map_err(|error| error.to_string())?;
    let result = runtime.block_on(serve_health(&given));
    result.map_err(|error| error.to_string())
}

async fn serve_health(given: &GivenFlags) -> Result<(), FlagError> {
    let urls = match given.list(CLIENTS) {
        none if none.is_empty() => vec!["http://localhost:2379".to_owned()],
        urls => urls,
    };
    for url in &urls {
        let listener = listen(url).await?;
        tracing::info!(url, "answers /health; stores nothing: the API server keeps its objects in memory");
        tokio::spawn(serve(
            listener,
            None,
            tower::service_fn(answer),
            Patience { drain: Duration::ZERO, ..Patience::default() },
            std::future::pending(),
        ));
    }
    signals::interrupt_or_terminate().await;
    Ok(())
}

async fn listen(url: &str) -> Result<TcpListener, FlagError> {
    let refused = |reason: String| FlagError::of_value(CLIENTS, url, reason);
    let address = url.strip_prefix("http://").map(|rest| rest.trim_end_matches('/'));
    let address = address.ok_or_else(|| refused("is not an http:// URL; TLS is not supported".to_owned()))?;
    TcpListener::bind(address).await.map_err(|error| refused(format!("failed to listen: {error}")))
}

/// Answers requests for health and version as etcd does; other requests with 404.
async fn answer(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let path = request.uri().path();
    let (code, text) = match path {
        "/health" | "/readyz" | "/livez" => (StatusCode::OK, r#"{"health":"true","reason":""}"#.to_owned()),
        "/version" => (StatusCode::OK, format!(r#"{{"etcdserver":"{VERSION}","etcdcluster":"{VERSION}"}}"#)),
        _ => {
            tracing::warn!(path, "this etcd stores nothing: a client that needs a store needs a real etcd");
            (StatusCode::NOT_FOUND, "this etcd stores nothing\n".to_owned())
        }
    };
    let mut response = Response::new(Full::from(text));
    *response.status_mut() = code;
    Ok(response)
}
