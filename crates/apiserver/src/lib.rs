//! Embedded Kubernetes API server: one tower service, served in process or over TLS.
//!
//! ```
//! let server = apiserver::ApiServer::builder().build();
//! assert!(server.requests().is_empty());
//! ```
//!
//! Invariants: knows no component. Reads no clock but tokio's, no environment, no randomness but its seed's. One lock in
//! the store orders revisions, so a watch sees every write once, in order.

mod admission;
mod builder;
mod call;
mod clock;
mod convert;
mod crd;
mod decode;
mod discovery;
mod effects;
mod fields;
mod front;
mod ids;
mod log;
mod meta;
mod negotiate;
mod notes;
mod openapi;
mod patch;
mod path;
mod query;
mod registry;
mod removal;
mod render;
mod reply;
mod reviews;
mod selection;
mod server;
mod status;
mod store;
mod strategy;
mod table;
mod validation;
mod verbs;

pub use builder::Builder;
pub use call::{User, Verb};
pub use front::{KeyPair, ServeError, Served};
pub use log::Request;
pub use reply::Body;
pub use server::ApiServer;
