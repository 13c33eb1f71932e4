//! Defaulting, validation and admission of the garden API, for a garden that serves Gardener's kinds as custom
//! resources. If gardener-apiserver serves them, it does all of this itself. [`webhooks`] names what a webhook cannot do.
//!
//! - [`webhooks`] — pure functions: defaulting and validation, one module for each kind;
//! - [`facts`] — reads the objects of the garden that a decision needs;
//! - [`serving`] — connects webhooks and facts to paths;
//! - [`admission`] — the admission plugins of gardener-apiserver, as pure functions in one chain;
//! - [`strategies`] — the garden's kinds as values, for an API server that serves them itself;
//! - [`registrations`] — the webhook configurations;
//! - [`command`] — the command line;
//! - [`api_server`] — the program gardener-apiserver, which serves these kinds behind a kube-apiserver.
//!
//! The crate `versions` decides about versions; this crate adds the other checks of the API, in the original's order,
//! with its paths and texts.

pub mod admission;
pub mod api_server;
pub mod command;
mod component;
pub mod decisions;
pub mod facts;
pub mod registrations;
pub mod serving;
pub mod strategies;
pub mod webhooks;

pub use self::component::COMPONENT;
