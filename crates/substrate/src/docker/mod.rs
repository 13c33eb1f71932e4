//! The Docker client, for everything that starts containers.

mod engine;

use std::path::{Path, PathBuf};

use crate::command::{self, CommandError, LONG_TIMEOUT, SHORT_TIMEOUT};

pub use engine::Engine;

/// The Docker client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Docker(PathBuf);

/// The client cannot reach an engine.
#[derive(Debug, thiserror::Error)]
#[error(
    "failed to reach a Docker engine: {said}; start Docker, or as root on Linux `make kind-node` starts a private one"
)]
pub struct NoEngine {
    /// The client's message.
    pub said: String,
}

impl Docker {
    /// The client at this path.
    #[must_use]
    pub fn at(path: PathBuf) -> Self {
        Self(path)
    }

    /// The client's path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Pulls an image, unless the engine has it.
    ///
    /// # Errors
    /// When the image cannot be pulled.
    pub async fn provide(&self, image: &str) -> Result<(), CommandError> {
        let inspect = ["image", "inspect", "--format", "{{.Id}}", image];
        if self.query(&inspect, "inspect the image").await.is_ok() {
            return Ok(());
        }
        command::run(&self.0, &["pull", "--quiet", image], "pull the image", LONG_TIMEOUT).await.map(|_| ())
    }

    /// The engine's endpoint, such as `unix:///var/run/docker.sock`; empty if unknown.
    pub async fn endpoint(&self) -> String {
        let inspect = ["context", "inspect", "--format", "{{.Endpoints.docker.Host}}"];
        self.query(&inspect, "read the endpoint of the Docker context").await.unwrap_or_default()
    }

    /// Runs a quick command of the client and returns its output.
    pub(crate) async fn query(&self, arguments: &[&str], step: &str) -> Result<String, CommandError> {
        command::run(&self.0, arguments, step, SHORT_TIMEOUT).await
    }
}
