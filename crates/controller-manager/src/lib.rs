//! gardener-controller-manager: controllers of the garden, a drop-in for the original.
//!
//! - [`config`] — what an instance is told;
//! - [`controllers`] — one module per controller, and what they share;
//! - [`command`] — the binary.
//!
//! Data flows one way: a controller observes what its stores hold, plans by pure functions, and executes the plan.

pub mod command;
mod component;
pub mod config;
pub mod controllers;

pub use self::component::COMPONENT;
