//! The environments that cases run in: the embedded API server, a real control plane, a cluster in containers, or any
//! cluster behind a kubeconfig.
//!
//! - [`embedded`] — the in-process API server;
//! - [`envtest`] — a real kube-apiserver and etcd, which the project starts and stops;
//! - [`kind`] — a cluster in containers, which the project creates and deletes;
//! - [`kubeconfig`] — any cluster of a kubeconfig file;
//! - [`cluster`] — requests to a cluster in plain JSON;
//! - [`command`] — runs programs to their end;
//! - [`docker`] — the Docker engine;
//! - [`facts`] — objects that a case needs before its request;
//! - [`identity`] — a server's certificate and its CA;
//! - [`ports`] — free ports for servers;
//! - [`proxied`] — a webhook inside a cluster, called through its API server.
//!
//! Invariant: knows no component and no contract.

mod certificate_request;
pub mod cluster;
pub mod command;
pub mod docker;
pub mod embedded;
pub mod envtest;
pub mod facts;
pub mod identity;
pub mod kind;
pub mod kubeconfig;
pub mod ports;
pub mod proxied;
mod typed_api;
