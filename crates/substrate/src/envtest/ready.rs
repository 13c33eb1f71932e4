//! When a control plane is ready, and what is said when it does not become so.

use std::time::Duration;

use http::Request;
use kube::client::Body;
use tokio::time::Instant;

use super::tether::last_words;
use super::{Envtest, EnvtestError};

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(25);
/// How long one look may take.
const LOOK: Duration = Duration::from_secs(5);

/// Until when, for all that is waited for.
pub(super) struct Waiting {
    patience: Duration,
    deadline: Instant,
}

impl Waiting {
    /// From now on.
    pub(super) fn new(patience: Duration) -> Self {
        Self { patience, deadline: Instant::now() + patience }
    }

    /// Looks until all is well; an error is a program that ended, or what `program` answered last.
    pub(super) async fn until<L>(
        &mut self,
        started: &Envtest,
        program: &str,
        look: impl Fn() -> L,
    ) -> Result<(), EnvtestError>
    where
        L: Future<Output = Result<(), String>>,
    {
        loop {
            started.alive()?;
            let looked = tokio::select! {
                looked = tokio::time::timeout(LOOK, look()) => looked,
                death = started.ended() => return Err(death),
            };
            let answer = match looked {
                Ok(Ok(())) => return Ok(()),
                Ok(Err(answer)) => answer,
                Err(_) => format!("no answer within {LOOK:?}"),
            };
            if Instant::now() > self.deadline {
                let last_words = last_words(&started.folder().join(format!("{program}.log")));
                let (program, seconds) = (program.to_owned(), self.patience.as_secs());
                return Err(EnvtestError::NotReady { program, seconds, answer, last_words });
            }
            tokio::time::sleep(PAUSE).await;
        }
    }
}

/// Whether a server is ready; an error is its answer.
pub(super) async fn serves(client: &kube::Client) -> Result<(), String> {
    ask(client, "/readyz").await
}

/// Whether controllers work: what they make first in every namespace is there.
pub(super) async fn controls(client: &kube::Client) -> Result<(), String> {
    ask(client, "/api/v1/namespaces/default/serviceaccounts/default").await?;
    ask(client, "/api/v1/namespaces/default/configmaps/kube-root-ca.crt").await
}

async fn ask(client: &kube::Client, path: &str) -> Result<(), String> {
    let request = Request::get(path).body(Body::empty()).expect("a path is a URI");
    let response = client.send(request).await.map_err(|error| error.to_string())?;
    if response.status().is_success() {
        return Ok(());
    }
    let status = response.status();
    let said = response.into_body().collect_bytes().await.unwrap_or_default();
    let said = String::from_utf8_lossy(&said);
    // Of readyz, what fails.
    let failing: Vec<&str> = said.lines().filter(|line| line.starts_with("[-]")).collect();
    Err(format!("GET {path}: {status} {}", failing.join(", ")).trim_end().to_owned())
}
