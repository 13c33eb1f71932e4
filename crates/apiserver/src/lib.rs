//! Embedded Kubernetes API server: one tower service, served in process or over TLS.
//!
//! `kube::Client` calls it without a socket, so virtual time works; [`ApiServer::serve`] serves other processes.
//! ```
//! let server = apiserver::ApiServer::builder().crds(schema::crds().iter().cloned()).build();
//! assert!(server.requests().is_empty());
//! ```
//! Requests are JSON or YAML, those of built-in kinds and deletions also protobuf; responses are JSON or YAML.
//! Differences from kube-apiserver: no protobuf responses (406) and custom resources (415); own writes have no field
//! manager, except at the start; built-in kinds have only common validations; CEL needs the feature `cel`, without cost
//! limits; field owners change versions without a webhook; match conditions are refused; no RBAC by default; no logs.
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
pub mod flags;
mod front;
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
mod typed;
mod verbs;
mod versions;
mod webhook_cache;

pub use access::{AccessRequest, AccessTarget, Decision, Delegate, Pending, RequestHeaders, SigningKey};
pub use access::{Authentication, ClientAuthority, TokenKeyError, VerifyingKey};
pub use call::{TypedRules, User, Verb};
pub use faults::{Active, Effect, Fault, Faults, Matching, Refusal, Strikes, WatchEnd, WriteCounter};
pub use faults::{DeliveredEvent, EventChange, EventFault, EventLog, Hold};
pub use faults::{LoggedRead, ReadChange, ReadFault, ReadLog, ReadStep, ReadTarget};
pub use front::{Listening, ServeError, Served};
pub use http::{forwarding::passed_on, reply::Body, upstream::Answer, upstream::Upstream};
pub use state::{Authorization, Controllers};
pub use {authority::KeyPair, builder::Builder, log::Request, server::ApiServer};
