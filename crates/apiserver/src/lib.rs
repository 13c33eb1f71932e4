//! Embedded Kubernetes API server: one tower service, served in process or over TLS.
//!
//! `kube::Client::new(server.clone(), "default")` talks to it without a socket, so virtual time holds;
//! [`ApiServer::serve`] opens a door for kubectl and components of other processes.
//!
//! ```
//! let server = apiserver::ApiServer::builder().crds(schema::crds().iter().cloned()).build();
//! assert!(server.requests().is_empty());
//! ```
//!
//! Where it differs from kube-apiserver: JSON and YAML, no protobuf; the server's own writes name no manager; of what
//! kube-apiserver checks in built-in kinds the common is checked, and what may change of a pod is not; rules in CEL are
//! kept and not enforced; custom resources convert by `apiVersion` alone; match conditions are refused; unless
//! [`Authorization::Rbac`] is chosen, everybody may do everything; tokens are signed with ES256; logs, exec, proxies
//! and aggregated APIs are not served.
//!
//! Invariants: knows no component. Reads no clock but tokio's and no environment; names and uids come from its seed.
//! One lock in the store orders revisions, so a watch sees every write once, in order.

mod admission;
mod allocation;
mod apply;
mod attributes;
mod authority;
mod authorization;
mod builder;
mod call;
mod certificates;
mod clock;
mod condition;
mod controllers;
mod convert;
mod crd;
mod decode;
mod defaults;
mod discovery;
mod effects;
mod faults;
mod fields;
mod front;
mod hooks;
mod identity;
mod ids;
mod log;
mod meta;
mod negotiate;
mod notes;
mod openapi;
mod patch;
mod path;
mod plugins;
mod progress;
mod query;
mod registry;
mod removal;
mod render;
mod reply;
mod reviews;
mod selection;
mod server;
mod state;
mod status;
mod store;
mod strategy;
mod structural;
mod table;
mod tokens;
mod validation;
mod verbs;

pub use authority::KeyPair;
pub use builder::Builder;
pub use call::{User, Verb};
pub use faults::{Active, Effect, Fault, Faults, Matching, Refusal, Strikes, WatchEnd};
pub use front::{ServeError, Served};
pub use log::Request;
pub use reply::Body;
pub use server::ApiServer;
pub use state::{Authorization, Controllers};
