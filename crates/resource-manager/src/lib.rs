//! gardener-resource-manager: webhooks of a seed and of a shoot, a drop-in for the original.

pub mod config;
pub mod strconv;
pub mod toleration;
pub mod webhooks;
