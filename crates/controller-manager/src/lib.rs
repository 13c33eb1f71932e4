//! gardener-controller-manager: controllers of the garden, a drop-in for the original.
//!
//! - [`config`] — the configuration of an instance;
//! - [`controllers`] — one module per controller, and their common context.
//!
//! Data flows one way: a controller observes what its stores hold, plans by pure functions, and executes the plan.

mod component;
pub mod config;
pub mod controllers;

pub use self::component::COMPONENT;
