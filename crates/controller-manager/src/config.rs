//! The component configuration: `ControllerManagerConfiguration` of `controllermanager.config.gardener.cloud/v1alpha1`.
//!
//! A [`mod@file`] is read in two steps: [`defaults`] fills in missing fields, [`validation`] checks the result.

mod controllers;
pub mod defaults;
pub mod file;
mod types;
pub mod validation;

pub use controller::config::{ClientConnection, Debugging, LeaderElection, Server, Servers};
pub use controllers::*;
pub use types::*;

/// `apiVersion` of a configuration file.
pub const API_VERSION: &str = "controllermanager.config.gardener.cloud/v1alpha1";
/// `kind` of a configuration file.
pub const KIND: &str = "ControllerManagerConfiguration";
