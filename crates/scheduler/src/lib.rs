//! gardener-scheduler: chooses a Seed for each new Shoot, a drop-in for the original.
//!
//! - [`decision`] — which Seed a Shoot gets, and why each other Seed does not: a pure function;
//! - [`config`] — the configuration of an instance;
//! - [`controllers`] — the controller that requests decisions, binds Shoots and reports failures.

mod component;
pub mod config;
pub mod controllers;
pub mod decision;

pub use self::component::COMPONENT;
