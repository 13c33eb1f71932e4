//! What a provider needs: `ControlPlaneWebhooksConfiguration` of
//! `controlplane-webhooks.conformance.gardener.cloud/v1alpha1`.
//!
//! Nothing that Gardener's contract keeps from extensions can be asked for: [`validation`] refuses it and names the clause.

pub mod file;
mod known;
mod types;
pub mod validation;

pub use types::*;

/// `apiVersion` of a configuration file.
pub const API_VERSION: &str = "controlplane-webhooks.conformance.gardener.cloud/v1alpha1";
/// `kind` of a configuration file.
pub const KIND: &str = "ControlPlaneWebhooksConfiguration";
