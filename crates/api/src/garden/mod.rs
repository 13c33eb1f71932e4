//! The garden's kinds: `core.gardener.cloud/v1beta1`, every field of v1.82.
//!
//! An object is read as Gardener's Go types read it: what is missing or null is the zero value, and optional where the
//! API says so. Beyond that, each object keeps the fields that it does not know in `unknown` and writes them back, so
//! that whoever reads, changes and writes an object loses nothing of a newer API. Texts (versions, quantities,
//! durations) stay as they were written. Values that the API checks (`classification`, names of container runtimes) are
//! held whatever they are: to refuse them is admission's.

#[macro_use]
mod object;

pub mod cloud_profile;
pub mod condition;
pub mod exposure_class;
mod notation;
pub mod project;
pub mod quota;
pub mod reference;
pub mod secret_binding;
pub mod seed;
pub mod shoot;

pub use cloud_profile::CloudProfile;
pub use exposure_class::ExposureClass;
pub use notation::{Duration, Quantity};
pub use object::Unknown;
pub use project::Project;
pub use quota::Quota;
pub use secret_binding::SecretBinding;
pub use seed::Seed;
pub use shoot::Shoot;

/// The API group.
pub const GROUP: &str = "core.gardener.cloud";
/// Its version.
pub const VERSION: &str = "v1beta1";
/// Both, as objects say it.
pub const API_VERSION: &str = "core.gardener.cloud/v1beta1";
/// Finalizer of objects that somebody in the garden still needs.
pub const FINALIZER: &str = "gardener";
