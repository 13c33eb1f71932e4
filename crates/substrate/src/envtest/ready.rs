//! Waits until a control plane is ready.

use std::time::Duration;

use http::Request;
use kube::client::Body;
use tokio::time::Instant;

use super::tether::last_words;
use super::{Envtest, EnvtestError};

/// The interval between probes.
const POLL_INTERVAL: Duration = Duration::from_millis(25);
/// The timeout of one probe.
const PROBE_TIMEOUT: Duration = Duration::from_secs(5);

/// The deadline for all programs.
pub(super) struct Deadline {
    timeout: Duration,
    deadline: Instant,
}

impl Deadline {
    /// A deadline from now.
    pub(super) fn new(timeout: Duration) -> Self {
        Self { timeout, deadline: Instant::now() + timeout }
    }

    /// Probes until it succeeds; the error is a program that ended, or the last answer of `program`.
    pub(super) async fn until<L>(
        &mut self,
        started: &Envtest,
        program: &str,
        probe: impl Fn() -> L,
    ) -> Result<(), EnvtestError>
    where
        L: Future<Output = Result<(), String>>,
    {
        loop {
            started.alive()?;
            let result = tokio::select! {
                result = tokio::time::timeout(PROBE_TIMEOUT, probe()) => result,
                death = started.ended() => return Err(death),
            };
            let answer = match result {
                Ok(Ok(())) => return Ok(()),
                Ok(Err(answer)) => answer,
                Err(_) => format!("no answer within {PROBE_TIMEOUT:?}"),
            };
            if Instant::now() > self.deadline {
                let last_words = last_words(&started.folder().join(format!("{program}.log")));
                let (program, seconds) = (program.to_owned(), self.timeout.as_secs());
                return Err(EnvtestError::NotReady { program, seconds, answer, last_words });
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }
}

/// Checks that a server is ready; the error is its answer.
pub(super) async fn serves(client: &kube::Client) -> Result<(), String> {
    get(client, "/readyz").await
}

/// Checks that controllers run: the objects exist that they create in every namespace.
pub(super) async fn runs_controllers(client: &kube::Client) -> Result<(), String> {
    get(client, "/api/v1/namespaces/default/serviceaccounts/default").await?;
    get(client, "/api/v1/namespaces/default/configmaps/kube-root-ca.crt").await
}

async fn get(client: &kube::Client, path: &str) -> Result<(), String> {
    let request = Request::get(path).body(Body::empty()).expect("a path is a URI");
    let response = client.send(request).await.map_err(|error| error.to_string())?;
    if response.status().is_success() {
        return Ok(());
    }
    let status = response.status();
    let body = response.into_body().collect_bytes().await.unwrap_or_default();
    let body = String::from_utf8_lossy(&body);
    // The failing checks of readyz.
    let failing: Vec<&str> = body.lines().filter(|line| line.starts_with("[-]")).collect();
    Err(format!("GET {path}: {status} {}", failing.join(", ")).trim_end().to_owned())
}
