//! Where cases run: embedded, a real control plane, a cluster in containers, or any cluster behind a kubeconfig.
//!
//! - [`embedded`] — the in-process API server;
//! - [`envtest`] — a real kube-apiserver and etcd, started and ended by us;
//! - [`kind`] — a whole cluster in containers, created and deleted by us;
//! - [`kubeconfig`] — any cluster that a file names;
//! - [`cluster`] — one cluster behind a client, asked in plain JSON;
//! - [`command`] — programs that are asked for something and end;
//! - [`docker`] — the engine of whoever starts containers;
//! - [`facts`] — objects that stand before a request;
//! - [`identity`] — a server's certificate and the authority that signed it;
//! - [`proxied`] — a webhook inside a cluster, asked through its API server.
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
pub mod proxied;
