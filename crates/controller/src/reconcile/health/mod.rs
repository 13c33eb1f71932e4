//! Whether live objects are healthy and rolled out: pure functions that return the reason if not.
//!
//! One file per API group. The objects have only the fields that are read; see [`kube::api::Object`].

pub mod apiextensions;
pub mod apps;
pub mod batch;
mod conditions;
pub mod core_v1;
mod reason;
pub mod rollout;

pub use self::reason::{ConditionMissing, Outdated, Unfinished, Unhealthy};

/// An object whose health can be checked.
pub trait Check {
    /// Checks whether it is healthy.
    ///
    /// # Errors
    /// The first reason why it is not.
    fn check(&self) -> Result<(), Unhealthy>;
}
