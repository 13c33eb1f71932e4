//! Errors of kind clusters: the step, its message, and the remedy.

use std::path::{Path, PathBuf};

use crate::command::CommandError;
use crate::docker::NoEngine;
use crate::kubeconfig;

/// Reason why a cluster is not available.
#[derive(Debug, thiserror::Error)]
pub enum KindError {
    /// A program was not found.
    #[error("failed to find {program}: {remedy}")]
    Missing {
        /// Its name.
        program: &'static str,
        /// How to get it.
        remedy: &'static str,
    },
    /// No Docker engine responds.
    #[error("{0}")]
    NoEngine(#[from] NoEngine),
    /// No node image was chosen or assembled.
    #[error(
        "failed to find a node image: `make kind-node` assembles one, or set CONFORMANCE_KIND_IMAGE to one that can be \
         pulled, such as kindest/node"
    )]
    NoImage,
    /// The chosen node image does not exist and cannot be pulled.
    #[error(
        "failed to get the node image {image}: {said}; `make kind-node` assembles one without a registry"
    )]
    Image {
        /// Its name.
        image: String,
        /// The engine's message.
        said: String,
    },
    /// A cluster of this name exists.
    #[error(
        "a kind cluster named {name} exists already: `kind delete cluster --name {name}` removes it, or choose another name"
    )]
    NameInUse {
        /// Its name.
        name: String,
    },
    /// The existing cluster has another number of nodes.
    #[error(
        "the kind cluster {name} has {nodes} nodes instead of {wanted}: omit --zones, or `kind delete \
         cluster --name {name}` removes it"
    )]
    OtherShape {
        /// Its name.
        name: String,
        /// Its number of nodes.
        nodes: usize,
        /// The wanted number of nodes.
        wanted: usize,
    },
    /// The existing cluster was created without the ports for webhooks.
    #[error(
        "the kind cluster {name} publishes no node ports: it was created to have components installed, or by another version of \
         the program; `kind delete cluster --name {name}` removes it, and a run creates one that has them"
    )]
    Unpublished {
        /// Its name.
        name: String,
    },
    /// The engine has too little disk space for a cluster.
    #[error(
        "failed to make room for the cluster: {} has {free} MiB free and {wanted} are needed; `docker system prune` removes \
         what the engine does not use",
        folder.display()
    )]
    NoRoom {
        /// The engine's folder.
        folder: PathBuf,
        /// MiB that are free.
        free: u64,
        /// MiB that are needed.
        wanted: u64,
    },
    /// The cluster could not be created; the logs of its nodes are kept.
    #[error("{why}{}", describe_logs(.logs.as_deref()))]
    NotCreated {
        /// The step that failed.
        why: Box<Self>,
        /// Where the logs are; absent if they could not be written.
        logs: Option<PathBuf>,
    },
    /// A command failed.
    #[error("{0}")]
    Command(#[from] CommandError),
    /// The cluster did not become ready.
    #[error("the cluster is not ready after {seconds} s: {answer}{}", describe_logs(.logs.as_deref()))]
    NotReady {
        /// The timeout.
        seconds: u64,
        /// What was missing.
        answer: String,
        /// Where the logs are; absent if they could not be written.
        logs: Option<PathBuf>,
    },
    /// It cannot be reached.
    #[error("{0}")]
    Kubeconfig(#[from] kubeconfig::Error),
    /// A file cannot be written.
    #[error("failed to write {}: {source}", path.display())]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// The operating system's error.
        source: std::io::Error,
    },
}

fn describe_logs(logs: Option<&Path>) -> String {
    logs.map_or_else(String::new, |logs| format!("; the logs of its nodes are in {}", logs.display()))
}
