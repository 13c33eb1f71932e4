//! The Docker client, and what is asked of the engine behind it by everybody who starts containers.

mod engine;

use std::path::{Path, PathBuf};

use crate::command::{self, CommandError, LONG, QUICK};

pub use engine::Engine;

/// The Docker client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Docker(PathBuf);

/// Nobody answers the client.
#[derive(Debug, thiserror::Error)]
#[error(
    "failed to reach a Docker engine: {said}; start Docker, or as root on Linux `make kind-node` starts a private one"
)]
pub struct NoEngine {
    /// The client's words.
    pub said: String,
}

impl Docker {
    /// The client at this path.
    #[must_use]
    pub fn at(path: PathBuf) -> Self {
        Self(path)
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Sees that the engine has an image: one that it lacks is pulled.
    ///
    /// # Errors
    /// When it cannot be pulled.
    pub async fn provide(&self, image: &str) -> Result<(), CommandError> {
        let inspect = ["image", "inspect", "--format", "{{.Id}}", image];
        if self.ask(&inspect, "look for the image").await.is_ok() {
            return Ok(());
        }
        command::run(&self.0, &["pull", "--quiet", image], "pull it", LONG).await.map(|_| ())
    }

    /// Where the client reaches the engine, such as `unix:///var/run/docker.sock`; empty where it does not say.
    pub async fn endpoint(&self) -> String {
        let inspect = ["context", "inspect", "--format", "{{.Endpoints.docker.Host}}"];
        self.ask(&inspect, "ask where the engine is").await.unwrap_or_default()
    }

    /// What it prints, of something that takes no time.
    pub(crate) async fn ask(&self, arguments: &[&str], step: &str) -> Result<String, CommandError> {
        command::run(&self.0, arguments, step, QUICK).await
    }
}
