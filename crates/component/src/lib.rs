//! A component as a value: each component crate exports one constant, `COMPONENT`, and `cli` lists them. What `xtask`
//! and `tidy` need is in the crate's `[package.metadata.component]`.

mod component;
mod configuration;
mod decision;
pub mod garden;
mod installation;
mod manifests;
mod start;

pub use component::Component;
pub use configuration::{Loaded, to_load_result};
pub use decision::{Cause, Decided, Question};
pub use installation::{Combining, Installation, Probe, Rollout, Webhooks};
pub use manifests::Manifests;
pub use start::{Clusters, StartOptions, Started, Starting};
