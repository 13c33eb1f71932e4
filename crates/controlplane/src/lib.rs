//! A provider's webhooks for the control planes of shoots, told by configuration what its provider needs.
//!
//! - [`config`] — what a provider needs, and what it may not ask for;
//! - [`ensurer`] — the hooks of a provider, and which object leads to which;
//! - [`webhooks`] — the three webhooks: pure functions over raw objects and plain facts;
//! - [`command_line`], [`pod`], [`file_content`] — what hooks edit, so that nothing else changes;
//! - [`cluster`] — what is read of a shoot's Cluster object;
//! - [`serving`], [`registrations`] — the webhooks behind paths, and how they are registered;
//! - [`command`] — the binary.
//!
//! What may be changed and what may not is Gardener's contract with its extensions, docs/extensions/controlplane-webhooks.md.

pub mod cluster;
pub mod command;
pub mod command_line;
mod component;
pub mod config;
pub mod ensurer;
pub mod file_content;
pub mod pod;
pub mod registrations;
pub mod serving;
pub mod webhooks;

pub use self::component::COMPONENT;
