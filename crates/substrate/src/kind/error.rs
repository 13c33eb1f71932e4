//! What can go wrong with a kind cluster: the step, the words of whoever failed, and what to do.

use std::path::PathBuf;

use crate::command::CommandError;
use crate::docker::NoEngine;
use crate::kubeconfig;

/// Why there is no cluster, or not any more.
#[derive(Debug, thiserror::Error)]
pub enum KindError {
    /// A program is nowhere.
    #[error("failed to find {program}: {remedy}")]
    Missing {
        /// Its name.
        program: &'static str,
        /// How to get it.
        remedy: &'static str,
    },
    /// No engine answers.
    #[error("{0}")]
    NoEngine(#[from] NoEngine),
    /// No node image was chosen or assembled.
    #[error(
        "failed to find a node image: `make kind-node` assembles one, or set CONFORMANCE_KIND_IMAGE to one that can be \
         pulled, such as kindest/node"
    )]
    NoImage,
    /// The chosen node image is not there and cannot be pulled.
    #[error(
        "failed to get the node image {image}: {said}; `make kind-node` assembles one without a registry"
    )]
    Image {
        /// Its name.
        image: String,
        /// The engine's words.
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
    /// A cluster of this name is not as it is wanted.
    #[error(
        "the kind cluster {name} has {nodes} nodes, not the {wanted} that are wanted: leave --zones out, or `kind delete \
         cluster --name {name}` removes it"
    )]
    OtherShape {
        /// Its name.
        name: String,
        /// Nodes that it has.
        nodes: usize,
        /// Nodes that are wanted.
        wanted: usize,
    },
    /// A cluster of this name was created without the ports over which webhooks in it are asked.
    #[error(
        "the kind cluster {name} publishes no node ports: it was created to have components installed, or by another version of \
         the program; `kind delete cluster --name {name}` removes it, and a run creates one that has them"
    )]
    Unpublished {
        /// Its name.
        name: String,
    },
    /// The engine has no room for a cluster.
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
    /// It could not be created; what its nodes said is kept.
    #[error("{why}; what its nodes said is in {}", logs.display())]
    NotCreated {
        /// The step that failed.
        why: Box<Self>,
        /// Where the logs are.
        logs: PathBuf,
    },
    /// A program that is asked for something gave nothing.
    #[error("{0}")]
    Command(#[from] CommandError),
    /// The cluster did not become ready.
    #[error("the cluster is not ready after {seconds} s: {answer}; its nodes' logs are in {}", logs.display())]
    NotReady {
        /// How long it had.
        seconds: u64,
        /// What was missing last.
        answer: String,
        /// Where the logs are.
        logs: PathBuf,
    },
    /// It cannot be asked.
    #[error("{0}")]
    Kubeconfig(#[from] kubeconfig::Error),
    /// A file cannot be written.
    #[error("failed to write {}: {source}", path.display())]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// The operating system's words.
        source: std::io::Error,
    },
}
