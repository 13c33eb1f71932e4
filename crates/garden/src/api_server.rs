//! gardener-apiserver: serves the garden's kinds as an aggregated API server behind a kube-apiserver, which knows users and
//! permissions and stores namespaces, Secrets and all other objects.
//!
//! - [`command`], [`flags`], [`features`], [`options`] — the command line;
//! - [`delegate`], [`verdicts`], [`authentication`] — asks the kube-apiserver who sends a request, and what it may do;
//! - [`copies`] — copies of the objects of the kube-apiserver that admission plugins read;
//! - [`bootstrap`] — what the server writes to the kube-apiserver when it starts;
//! - [`version`] — the version of Gardener;
//! - [`serving`] — connects all of them.
//!
//! Objects are in memory: etcd is not built.

pub mod authentication;
pub mod bootstrap;
pub mod command;
pub mod copies;
pub mod delegate;
pub mod features;
pub mod flags;
pub mod options;
pub mod serving;
pub mod verdicts;
pub mod version;

pub use options::ApiServerOptions;
pub use serving::{Serving, ServingError, start};
