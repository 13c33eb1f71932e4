//! Errors of a real control plane.

use std::path::PathBuf;

use super::assets::AssetsError;
use crate::cluster::ClusterError;
use crate::kubeconfig;

/// An environment error, not a result of the verification.
#[derive(Debug, thiserror::Error)]
pub enum EnvtestError {
    /// The programs were not found.
    #[error(transparent)]
    Assets(#[from] AssetsError),
    /// No free ports were found.
    #[error("failed to find free ports on loopback: {0}")]
    Ports(#[source] std::io::Error),
    /// A file or folder could not be created.
    #[error("failed to write {}: {source}", path.display())]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// The operating system's error.
        source: std::io::Error,
    },
    /// A key or certificate could not be generated.
    #[error("failed to make credentials: {0}")]
    Credentials(#[source] rcgen::Error),
    /// A program could not be started.
    #[error("failed to start {}: {source}", program.display())]
    Spawn {
        /// The program's path.
        program: PathBuf,
        /// The operating system's error.
        source: std::io::Error,
    },
    /// Another process took the chosen port, in every attempt.
    #[error("{program} found its port in use, {attempts} times{}", quoted(.last_words))]
    Occupied {
        /// `etcd`.
        program: String,
        /// The number of attempts.
        attempts: usize,
        /// The end of its log.
        last_words: String,
    },
    /// A program ended unexpectedly.
    #[error("{program} ended ({how}){}", quoted(.last_words))]
    Ended {
        /// `etcd`.
        program: String,
        /// `exit status 1`, `killed by signal 9`.
        how: String,
        /// The end of its log.
        last_words: String,
    },
    /// A program did not become ready in time.
    #[error("{program} is not ready after {seconds} s ({answer}){}", quoted(.last_words))]
    NotReady {
        /// `kube-apiserver`.
        program: String,
        /// The timeout.
        seconds: u64,
        /// Its last answer.
        answer: String,
        /// The end of its log.
        last_words: String,
    },
    /// The kubeconfig cannot be used.
    #[error(transparent)]
    Kubeconfig(#[from] kubeconfig::Error),
    /// A CustomResourceDefinition could not be written.
    #[error("failed to install {name}: {source}")]
    Crd {
        /// Its name.
        name: String,
        /// The client's error.
        source: ClusterError,
    },
    /// A CustomResourceDefinition was refused or is not served.
    #[error("kube-apiserver does not serve {name}: {reason}")]
    NotServed {
        /// Its name.
        name: String,
        /// The server's message, or what is missing.
        reason: String,
    },
}

impl EnvtestError {
    /// Whether a program found its port in use.
    pub(super) fn is_occupied(&self) -> bool {
        matches!(self, Self::Ended { last_words, .. } if last_words.contains("address already in use"))
    }

    /// The error after this many attempts with other ports.
    pub(super) fn after(self, attempts: usize) -> Self {
        match self {
            Self::Ended { program, last_words, .. } => Self::Occupied { program, attempts, last_words },
            other => other,
        }
    }
}

fn quoted(last_words: &str) -> String {
    if last_words.is_empty() {
        return "; its log is empty".to_owned();
    }
    format!("; the end of its log:\n  {}", last_words.replace('\n', "\n  "))
}
