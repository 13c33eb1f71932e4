//! Embedded Kubernetes API server: one tower service, served in process or over TLS.
//!
//! `kube::Client` talks to it without a socket, so virtual time holds; [`ApiServer::serve`] opens a door for others.
//! ```
//! let server = apiserver::ApiServer::builder().crds(schema::crds().iter().cloned()).build();
//! assert!(server.requests().is_empty());
//! ```
//! Bodies are JSON or YAML, those of built-in kinds and deletions protobuf too; answers are JSON or YAML. Where it
//! differs from kube-apiserver: no protobuf in answers (406), none of custom resources (415); its own writes name no
//! manager but those of the start; the common is checked in built-in kinds; CEL needs the feature `cel`, and costs are not
//! limited; owners of fields go to another version without a webhook; match conditions are refused; no logs.
//!
//! Invariants: knows no component; reads no clock but tokio's, and no environment; one lock orders all writes.

mod access;
mod admission;
mod aggregation;
mod apply;
mod authority;
mod builder;
mod call;
mod certificates;
mod clock;
mod condition;
mod controllers;
mod convert;
mod crd;
mod discovery;
mod faults;
mod front;
mod hooks;
mod http;
mod ids;
mod log;
mod object;
mod openapi;
mod patch;
mod progress;
mod registry;
mod render;
mod seed;
mod selection;
mod server;
mod state;
mod store;
mod table;
mod verbs;
mod versions;

pub use access::{Authentication, ClientAuthority, RequestHeaders, SigningKey, TokenKeyError, VerifyingKey};
pub use authority::KeyPair;
pub use builder::Builder;
pub use call::{User, Verb};
pub use faults::{Active, Effect, Fault, Faults, Matching, Refusal, Strikes, WatchEnd};
pub use front::{Listening, ServeError, Served};
pub use http::upstream::{Answer, Upstream};
pub use http::{passing::passed_on, reply::Body};
pub use log::Request;
pub use server::ApiServer;
pub use state::{Authorization, Controllers};
