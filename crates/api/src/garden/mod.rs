//! The garden's kinds, every field of v1.82: `core.gardener.cloud/v1beta1`, and of other groups ManagedSeed,
//! ManagedSeedSet ([`seed_management`]), Bastion ([`operations`]), OpenIDConnectPreset and ClusterOpenIDConnectPreset
//! ([`settings`]).
//!
//! An object is read as Gardener's Go types read it: a missing or null field has the zero value, and is optional where the
//! API says so. In addition, each object keeps unknown fields in `unknown` and writes them back, so
//! that reading, changing and writing an object loses no field of a newer API. Strings (versions, quantities,
//! durations) stay as they were written. Values that the API checks (`classification`, names of container runtimes) are
//! accepted as they are: admission must refuse invalid ones.

#[macro_use]
pub(crate) mod object;

pub mod backup_bucket;
pub mod backup_entry;
pub mod bastion;
pub mod cloud_profile;
pub mod condition;
pub mod controller_deployment;
pub mod controller_installation;
pub mod controller_registration;
pub mod exposure_class;
pub mod internal_secret;
pub mod managed_seed;
pub mod managed_seed_set;
mod metadata;
mod notation;
pub mod open_id_connect_preset;
pub mod operations;
pub mod project;
pub mod quota;
pub mod reference;
pub mod secret_binding;
pub mod seed;
pub mod seed_management;
pub mod settings;
pub mod shoot;
pub mod shoot_state;

pub use backup_bucket::BackupBucket;
pub use backup_entry::BackupEntry;
pub use bastion::Bastion;
pub use cloud_profile::CloudProfile;
pub use controller_deployment::ControllerDeployment;
pub use controller_installation::ControllerInstallation;
pub use controller_registration::ControllerRegistration;
pub use exposure_class::ExposureClass;
pub use internal_secret::InternalSecret;
pub use managed_seed::ManagedSeed;
pub use managed_seed_set::ManagedSeedSet;
pub use metadata::TemplateMetadata;
pub use notation::{Duration, Quantity};
pub use object::Unknown;
pub use open_id_connect_preset::{ClusterOpenIdConnectPreset, OpenIdConnectPreset};
pub use project::Project;
pub use quota::Quota;
pub use secret_binding::SecretBinding;
pub use seed::Seed;
pub use shoot::Shoot;
pub use shoot_state::ShootState;

/// The API group.
pub const GROUP: &str = "core.gardener.cloud";
/// Its version.
pub const VERSION: &str = "v1beta1";
/// Group and version, as in `apiVersion`.
pub const API_VERSION: &str = "core.gardener.cloud/v1beta1";
/// Finalizer of objects that other objects in the garden still use.
pub const FINALIZER: &str = "gardener";
