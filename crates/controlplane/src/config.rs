//! The provider's settings: `ControlPlaneWebhooksConfiguration` of
//! `controlplane-webhooks.conformance.gardener.cloud/v1alpha1`.
//!
//! [`validation`] refuses settings that Gardener's contract reserves, and names the clause.

pub mod file;
mod reserved;
mod types;
pub mod validation;

pub use types::*;

/// `apiVersion` of a configuration file.
pub const API_VERSION: &str = "controlplane-webhooks.conformance.gardener.cloud/v1alpha1";
/// `kind` of a configuration file.
pub const KIND: &str = "ControlPlaneWebhooksConfiguration";
