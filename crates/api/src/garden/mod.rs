//! The garden's kinds: `core.gardener.cloud/v1beta1`, every field of v1.82.
//!
//! An object is read as Gardener's Go types read it: a missing or null field has the zero value, and is optional where the
//! API says so. In addition, each object keeps unknown fields in `unknown` and writes them back, so
//! that reading, changing and writing an object loses no field of a newer API. Strings (versions, quantities,
//! durations) stay as they were written. Values that the API checks (`classification`, names of container runtimes) are
//! accepted as they are: admission must refuse invalid ones.

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
/// Group and version, as in `apiVersion`.
pub const API_VERSION: &str = "core.gardener.cloud/v1beta1";
/// Finalizer of objects that other objects in the garden still use.
pub const FINALIZER: &str = "gardener";
