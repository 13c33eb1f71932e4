//! A provider's webhooks for the control planes of shoots. The configuration holds what is specific to the provider.
//!
//! - [`config`] — the provider's settings, and the settings that are reserved;
//! - [`ensurer`] — the hooks of a provider, and the mapping from objects to hooks;
//! - [`webhooks`] — the three webhooks: pure functions over raw objects and plain facts;
//! - [`command_line`], [`pod`], [`file_content`] — edit parts of objects without changing the rest;
//! - [`cluster`] — reads versions from a shoot's Cluster object;
//! - [`serving`], [`registrations`] — the webhooks by path, and their registrations;
//! - [`command`] — the command line.
//!
//! Gardener's contract with its extensions, docs/extensions/controlplane-webhooks.md, defines what webhooks may change.

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
