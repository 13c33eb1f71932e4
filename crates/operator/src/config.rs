//! The component configuration: `OperatorConfiguration` of `operator.config.gardener.cloud/v1alpha1`.
//!
//! A [`mod@file`] is read in two steps: [`defaults`] fills in missing fields, [`validation`] checks the result.

pub mod defaults;
pub mod file;
mod types;
pub mod validation;

pub use controller::config::{ClientConnection, Debugging, LeaderElection, Server};
pub use types::*;

/// `apiVersion` of a configuration file.
pub const API_VERSION: &str = "operator.config.gardener.cloud/v1alpha1";
/// `kind` of a configuration file.
pub const KIND: &str = "OperatorConfiguration";
