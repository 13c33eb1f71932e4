//! What the harness knows of Gardener: versions of Shoots, their maintenance, gardens as targets, and providers' names.
//!
//! Nothing outside of this folder and of [`crate::differential`]'s worlds of ManagedResources knows a kind of Gardener.

use contract::case::Given;
use contract::gardener::decision::Decision;

pub(crate) mod advice;
pub(crate) mod dates;
pub(crate) mod decide;
pub mod garden;
pub(crate) mod maintain;
pub(crate) mod own_profile;
pub mod provider;
pub(crate) mod question;
pub(crate) mod stage;

pub use component::Decided;

/// What a target has for rows of the form versions.
pub trait Versions: Send + Sync {
    /// Its decision about versions; `None`: it makes no such decisions. Not async and without a clock: the decision has its time.
    fn decide(&self, _decision: &Decision, _given: &Given) -> Option<Decided> {
        None
    }

    /// Whether rows on the pure decision run for it. A target that runs as a whole may decide for the harness, but is not tested
    /// for that.
    fn runs_decisions(&self) -> bool {
        true
    }

    /// Whether rows about versions run on its admission, with the webhook name `shoot`, at the row's time.
    fn admits(&self) -> bool {
        false
    }

    /// Its component that maintains Shoots when started with [`crate::target::Setup::clusters`]: rows about versions run on it.
    /// `None`: there is no such component.
    fn maintainer(&self) -> Option<&str> {
        None
    }
}
