//! gardener-operator: the configuration, the process and the webhooks of Garden, as the original's.
//!
//! Its controllers (garden, garden-care, reference, networkpolicy-controller-registrar), the management of its webhooks'
//! certificates and the check of versions at the start are not built yet: contracts/operator/ledger.yaml names them.
//!
//! - [`config`] — the configuration of an instance;
//! - [`webhooks`] — pure functions that fill in and judge Gardens;
//! - [`serving`] — connects them to HTTP paths;
//! - [`registrations`] — the webhook configurations;
//! - [`command`] — the command line and the process.

pub mod command;
mod component;
pub mod config;
pub mod registrations;
pub mod serving;
pub mod webhooks;

pub use self::component::COMPONENT;
