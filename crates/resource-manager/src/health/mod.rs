//! Whether live objects are healthy and rolled out: pure functions from an object to the reason why not.
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

/// An object whose health is looked at.
pub trait Check {
    /// Whether it is healthy.
    ///
    /// # Errors
    /// When it is not: the first reason.
    fn check(&self) -> Result<(), Unhealthy>;
}
