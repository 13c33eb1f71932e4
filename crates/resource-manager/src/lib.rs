//! gardener-resource-manager: webhooks of a seed and of a shoot, a drop-in for the original.

pub mod config;
pub mod facts;
pub mod registrations;
pub mod serving;
pub mod strconv;
pub mod toleration;
pub mod webhooks;
