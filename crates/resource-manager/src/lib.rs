//! gardener-resource-manager: webhooks and controllers of a seed and of a shoot, a drop-in for the original.
//!
//! - [`config`] — what an instance is told;
//! - [`webhooks`] — one pure function per webhook;
//! - [`facts`] — what they must know of the cluster, kept current by watches;
//! - [`serving`] — webhooks and facts behind paths;
//! - [`managed_resource`], [`condition`] — the kind, its classes, what is decided about its objects, and its conditions;
//! - [`health`] — whether live objects are healthy and rolled out;
//! - [`references`] — which ConfigMaps and Secrets a workload uses, as annotations;
//! - [`controllers`] — one module per controller, and what they share;
//! - [`registrations`] — how the webhooks are registered;
//! - [`command`] — the binary.
//!
//! Data flows one way: configuration and facts go into pure functions, patches and actions come out.

pub mod command;
mod component;
pub mod condition;
pub mod config;
pub mod controllers;
pub mod decoding;
pub mod facts;
#[cfg(test)]
mod given;
pub mod health;
pub mod managed_resource;
pub mod references;
pub mod registrations;
pub mod serving;
pub mod strconv;
pub mod toleration;
pub mod webhooks;

pub use self::component::COMPONENT;
