//! Why a real control plane could not be started, or is gone.

use std::path::PathBuf;

use super::assets::AssetsError;
use crate::cluster::ClusterError;
use crate::kubeconfig;

/// An environment error: it says nothing about what was to be verified.
#[derive(Debug, thiserror::Error)]
pub enum EnvtestError {
    /// The programs are not there.
    #[error(transparent)]
    Assets(#[from] AssetsError),
    /// No ports are free.
    #[error("failed to find free ports on loopback: {0}")]
    Ports(#[source] std::io::Error),
    /// A file or folder could not be made.
    #[error("failed to write {}: {source}", path.display())]
    Write {
        /// Which.
        path: PathBuf,
        /// The operating system's reason.
        source: std::io::Error,
    },
    /// A key or certificate could not be made.
    #[error("failed to make credentials: {0}")]
    Credentials(#[source] rcgen::Error),
    /// A program could not be started.
    #[error("failed to start {}: {source}", program.display())]
    Spawn {
        /// Its path.
        program: PathBuf,
        /// The operating system's reason.
        source: std::io::Error,
    },
    /// Each port that was free a moment before was in use when the program came to it.
    #[error("{program} found its port in use, {attempts} times{}", quoted(.last_words))]
    Occupied {
        /// `etcd`.
        program: String,
        /// How often it was started.
        attempts: usize,
        /// End of its log.
        last_words: String,
    },
    /// A program ended though nobody told it to.
    #[error("{program} ended ({how}){}", quoted(.last_words))]
    Ended {
        /// `etcd`.
        program: String,
        /// `exit status 1`, `killed by signal 9`.
        how: String,
        /// End of its log.
        last_words: String,
    },
    /// It did not get ready in time.
    #[error("{program} is not ready after {seconds} s ({answer}){}", quoted(.last_words))]
    NotReady {
        /// `kube-apiserver`.
        program: String,
        /// Time given.
        seconds: u64,
        /// What it answered last.
        answer: String,
        /// End of its log.
        last_words: String,
    },
    /// Its kubeconfig cannot be used.
    #[error(transparent)]
    Kubeconfig(#[from] kubeconfig::Error),
    /// A CustomResourceDefinition could not be written.
    #[error("failed to install {name}: {source}")]
    Crd {
        /// Its name.
        name: String,
        /// The client's reason.
        source: ClusterError,
    },
    /// A CustomResourceDefinition was refused, or is not served.
    #[error("kube-apiserver does not serve {name}: {reason}")]
    NotServed {
        /// Its name.
        name: String,
        /// What the server says.
        reason: String,
    },
}

impl EnvtestError {
    /// Whether a program found its port in use.
    pub(super) fn is_occupied(&self) -> bool {
        matches!(self, Self::Ended { last_words, .. } if last_words.contains("address already in use"))
    }

    /// What it is after so many attempts with other ports.
    pub(super) fn after(self, attempts: usize) -> Self {
        match self {
            Self::Ended { program, last_words, .. } => Self::Occupied { program, attempts, last_words },
            other => other,
        }
    }
}

fn quoted(last_words: &str) -> String {
    if last_words.is_empty() {
        return "; it said nothing".to_owned();
    }
    format!("; its last words:\n  {}", last_words.replace('\n', "\n  "))
}
