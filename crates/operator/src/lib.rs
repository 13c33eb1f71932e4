//! gardener-operator: the configuration, the process, the webhooks of Garden and the controllers beside the one that
//! reconciles Gardens, as the original's.
//!
//! That controller ([`controllers::garden`]) is not registered as long as definitions of kinds are missing that it deploys. The management
//! of the webhooks' certificates and the check of versions at the start are not built yet: contracts/operator/ledger.yaml names
//! them.
//!
//! - [`config`] — the configuration of an instance;
//! - [`webhooks`] — pure functions that fill in and judge Gardens;
//! - [`serving`] — connects them to HTTP paths;
//! - [`registrations`] — the webhook configurations;
//! - [`controllers`] — one module per controller, and their common context;
//! - [`components`] — what it is to deploy for a Garden, as pure functions from values to objects;
//! - [`flow`] — what is done with a Garden, as a value;
//! - [`command`] — the command line and the process.

pub mod command;
mod component;
pub mod components;
pub mod config;
pub mod controllers;
pub mod flow;
mod network;
pub mod registrations;
pub mod serving;
pub mod webhooks;

pub use self::component::COMPONENT;
