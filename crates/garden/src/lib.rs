//! The part of the garden API's defaulting, validation and admission that keeps the version contract, for a garden that
//! serves Gardener's kinds as custom resources. Where gardener-apiserver serves them, it does all of this itself.
//!
//! - [`webhooks`] — pure functions: what is filled in of Shoots and CloudProfiles, and why they are refused;
//! - [`facts`] — what they must know of the garden, read when it is needed;
//! - [`serving`] — webhooks and facts behind paths;
//! - [`registrations`] — how the webhooks are registered;
//! - [`command`] — the binary.
//!
//! What is decided about versions themselves is decided by the crate `versions`; here it is put together with what an
//! object of the API must be beside that, in the original's order, paths and words.

pub mod command;
mod component;
pub mod decisions;
pub mod facts;
pub mod registrations;
pub mod serving;
pub mod webhooks;

pub use self::component::COMPONENT;
