//! The component configuration: `ResourceManagerConfiguration` of `resourcemanager.config.gardener.cloud/v1alpha1`.
//!
//! A [`mod@file`] is read in three steps: [`spellings`] replaces aliases, [`defaults`] fills in missing fields,
//! [`validation`] checks the result.

mod controllers;
pub mod defaults;
pub mod file;
pub mod spellings;
mod types;
pub mod validation;
mod webhooks;

pub use controller::config::{Debugging, LeaderElection, Server};
pub use controllers::*;
pub use types::*;
pub use webhooks::*;

/// `apiVersion` of a configuration file.
pub const API_VERSION: &str = "resourcemanager.config.gardener.cloud/v1alpha1";
/// `kind` of a configuration file.
pub const KIND: &str = "ResourceManagerConfiguration";
