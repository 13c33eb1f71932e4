//! `/healthz` and `/readyz`: `ok`, or one line per failed check, in Kubernetes' format.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use http::{HeaderValue, Response, StatusCode, Uri, header};
use http_body_util::Full;

type Check = Arc<dyn Fn() -> BoxFuture<'static, Result<(), String>> + Send + Sync>;

/// The checks behind both endpoints, by name.
#[derive(Clone, Default)]
pub struct Probes {
    health: BTreeMap<String, Check>,
    ready: BTreeMap<String, Check>,
}

impl fmt::Debug for Probes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = |checks: &BTreeMap<String, Check>| checks.keys().cloned().collect::<Vec<_>>();
        f.debug_struct("Probes")
            .field("health", &names(&self.health))
            .field("ready", &names(&self.ready))
            .finish()
    }
}

impl Probes {
    /// Without checks, both endpoints report success.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a check of `/healthz`; its error is only shown in answers about this check.
    #[must_use]
    pub fn health<F>(mut self, name: &str, check: impl Fn() -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<(), String>> + Send + 'static,
    {
        self.health.insert(name.to_owned(), Arc::new(move || check().boxed()));
        self
    }

    /// Adds a check of `/readyz`.
    #[must_use]
    pub fn ready<F>(mut self, name: &str, check: impl Fn() -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<(), String>> + Send + 'static,
    {
        self.ready.insert(name.to_owned(), Arc::new(move || check().boxed()));
        self
    }

    /// Answers a request: `/healthz`, `/readyz`, a check below (`/readyz/<name>`), `?verbose`, `?exclude=<name>`.
    pub async fn answer(&self, uri: &Uri) -> Response<Full<Bytes>> {
        let path = uri.path().trim_matches('/');
        let (endpoint, check) = path.split_once('/').unwrap_or((path, ""));
        let checks = match endpoint {
            "healthz" => &self.health,
            "readyz" => &self.ready,
            _ => return not_found(),
        };
        match checks.get(check) {
            _ if check.is_empty() => all(checks, &Query::read(uri.query().unwrap_or_default())).await,
            Some(single) => match single().await {
                Ok(()) => text(StatusCode::OK, "ok".to_owned()),
                Err(error) => {
                    text(StatusCode::INTERNAL_SERVER_ERROR, format!("internal server error: {error}\n"))
                }
            },
            None if checks.is_empty() && check == "ping" => text(StatusCode::OK, "ok".to_owned()),
            None => not_found(),
        }
    }
}

struct Query {
    verbose: bool,
    exclude: Vec<String>,
}

impl Query {
    fn read(query: &str) -> Self {
        let pairs = query.split('&').map(|pair| pair.split_once('=').unwrap_or((pair, "")));
        let exclude = pairs.clone().filter(|(name, _)| *name == "exclude").map(|(_, value)| value.to_owned());
        Self { verbose: pairs.clone().any(|(name, _)| name == "verbose"), exclude: exclude.collect() }
    }
}

async fn all(checks: &BTreeMap<String, Check>, query: &Query) -> Response<Full<Bytes>> {
    let mut lines = String::new();
    let mut failed = false;
    for (name, check) in checks {
        let line = if query.exclude.contains(name) {
            format!("[+]{name} excluded: ok")
        } else if let Err(error) = check().await {
            tracing::debug!(check = name, error, "health check failed");
            failed = true;
            // The endpoint is public: only the answer about the check itself shows the reason.
            format!("[-]{name} failed: reason withheld")
        } else {
            format!("[+]{name} ok")
        };
        writeln!(lines, "{line}").expect("writing to memory does not fail");
    }
    if checks.is_empty() {
        lines.push_str("[+]ping ok\n");
    }
    let unmatched: Vec<String> = query
        .exclude
        .iter()
        .filter(|name| !checks.contains_key(*name))
        .map(|name| format!("{name:?}"))
        .collect();
    if !unmatched.is_empty() {
        let names = unmatched.join(",");
        writeln!(lines, "warn: some health checks cannot be excluded: no matches for {names}")
            .expect("writing to memory does not fail");
    }
    match (failed, query.verbose) {
        (true, _) => text(StatusCode::INTERNAL_SERVER_ERROR, lines + "healthz check failed\n"),
        (false, true) => text(StatusCode::OK, lines + "healthz check passed\n"),
        (false, false) => text(StatusCode::OK, "ok".to_owned()),
    }
}

/// The check named `webhook-server`: tests whether `host:port` speaks TLS.
///
/// # Errors
/// When it does not, in the words of controller-runtime.
pub async fn webhook_server(address: &str) -> Result<(), String> {
    let dialled = webhook::dial::handshake(address, Duration::from_secs(10)).await;
    dialled.map_err(|error| format!("webhook server is not reachable: {error}"))
}

/// `404 page not found`, Go's text.
pub(crate) fn not_found() -> Response<Full<Bytes>> {
    text(StatusCode::NOT_FOUND, "404 page not found\n".to_owned())
}

fn text(status: StatusCode, body: String) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt as _;

    use super::*;

    async fn get(probes: &Probes, path: &str) -> (u16, String) {
        let response = probes.answer(&path.parse().unwrap()).await;
        let status = response.status().as_u16();
        let Ok(body) = response.into_body().collect().await;
        (status, String::from_utf8(body.to_bytes().to_vec()).unwrap())
    }

    #[tokio::test]
    async fn probes_answer_as_kubernetes_expects() {
        let probes = Probes::new()
            .health("ping", || async { Ok(()) })
            .ready("webhook-server", || async { Err("not started".to_owned()) })
            .ready("informer-sync", || async { Ok(()) });
        let failing =
            "[+]informer-sync ok\n[-]webhook-server failed: reason withheld\nhealthz check failed\n";
        let excluded = "[+]informer-sync ok\n[+]webhook-server excluded: ok\nhealthz check passed\n";
        let table = [
            ("/healthz", 200, "ok"),
            ("/healthz/", 200, "ok"),
            ("/healthz?verbose", 200, "[+]ping ok\nhealthz check passed\n"),
            ("/healthz/ping", 200, "ok"),
            ("/healthz/other", 404, "404 page not found\n"),
            ("/readyz", 500, failing),
            ("/readyz?verbose=true", 500, failing),
            ("/readyz/informer-sync", 200, "ok"),
            ("/readyz/webhook-server", 500, "internal server error: not started\n"),
            ("/readyz?exclude=webhook-server", 200, "ok"),
            ("/readyz?exclude=webhook-server&verbose", 200, excluded),
            (
                "/readyz?exclude=webhook-server&exclude=x&verbose",
                200,
                "[+]informer-sync ok\n[+]webhook-server excluded: ok\nwarn: some health checks cannot be excluded: no \
                 matches for \"x\"\nhealthz check passed\n",
            ),
            ("/", 404, "404 page not found\n"),
            ("/livez", 404, "404 page not found\n"),
        ];
        for (path, status, body) in table {
            assert_eq!(get(&probes, path).await, (status, body.to_owned()), "{path}");
        }
    }

    #[tokio::test]
    async fn without_checks_a_ping_stands_for_all() {
        let probes = Probes::new();
        for path in ["/healthz", "/readyz", "/readyz/ping"] {
            assert_eq!(get(&probes, path).await, (200, "ok".to_owned()), "{path}");
        }
        let verbose = get(&probes, "/readyz?verbose").await;
        assert_eq!(verbose, (200, "[+]ping ok\nhealthz check passed\n".to_owned()));
    }
}
