//! gardener-admission-controller: admission webhooks and the authorizer of seeds, a drop-in for the original.
//!
//! - [`config`] — the configuration of an instance;
//! - [`seed_identity`] — which seed a client acts for;
//! - [`webhooks`] — one pure function per admission webhook;
//! - [`graph`] — which object of the garden belongs to which seed, kept current by events;
//! - [`authorizer`] — a pure function: what a client of a seed may do;
//! - [`garden`] — the objects of the garden that decisions need;
//! - [`serving`] — connects all of these to HTTP paths;
//! - [`registrations`] — the webhook configuration;
//! - [`command`] — the command line and the process.

pub mod authorizer;
mod bootstrapping;
pub mod caller;
pub mod command;
mod component;
pub mod config;
pub mod garden;
mod gardenlet_config;
pub mod graph;
pub mod measurements;
pub mod registrations;
pub mod seed_identity;
pub mod serving;
pub mod webhooks;

pub use self::component::COMPONENT;
