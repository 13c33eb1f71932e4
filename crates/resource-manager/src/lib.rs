//! gardener-resource-manager: webhooks and controllers of a seed and of a shoot, a drop-in for the original.
//!
//! - [`config`] — the configuration of an instance;
//! - [`webhooks`] — one pure function per webhook;
//! - [`facts`] — what webhooks must know of the cluster, kept current by watches;
//! - [`serving`] — connects webhooks and facts to paths;
//! - [`managed_resource`], [`condition`] — the kind, pure functions about its objects, its conditions;
//! - [`references`] — annotations that list the ConfigMaps and Secrets a workload uses;
//! - [`controllers`] — one module per controller, and their common context;
//! - [`registrations`] — the webhook configurations;
//! - [`command`] — the command line and the process.
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
mod fixtures;
pub mod managed_resource;
pub mod references;
pub mod registrations;
pub mod serving;
pub mod strconv;
pub mod toleration;
pub mod webhooks;

pub use self::component::COMPONENT;
