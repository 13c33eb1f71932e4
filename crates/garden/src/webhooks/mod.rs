//! Admission of Shoots and CloudProfiles, as pure functions over whole objects; time, randomness and facts of the
//! garden are arguments.
//!
//! An object passes twice: [`shoot::mutate`] and [`cloud_profile::mutate`] set defaults and refuse nothing,
//! [`shoot::validate`] and [`cloud_profile::validate`] change nothing. The other modules are named as the contracts
//! that they implement.

pub mod cloud_profile;
pub mod cloud_profile_defaults;
pub mod cloud_profile_images;
pub mod cloud_profile_in_use;
pub mod cloud_profile_machine_types;
pub mod cloud_profile_places;
pub mod cloud_profile_seed_selector;
pub mod cloud_profile_versions;
mod field_errors;
pub mod shoot;
pub mod shoot_kubernetes;
pub mod shoot_machine_types;
pub mod shoot_maintenance;
pub mod shoot_operations;
pub mod shoot_pools;
pub mod shoot_profile;

pub use field_errors::FieldErrors;

/// A resource under admission, and the paths of its webhooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resource {
    /// Name of its webhooks.
    pub name: &'static str,
    /// The resource.
    pub plural: &'static str,
    /// Path of the mutating webhook.
    pub mutating_path: &'static str,
    /// Path of the validating webhook.
    pub validating_path: &'static str,
}

/// The resources.
pub const RESOURCES: [Resource; 2] = [
    Resource {
        name: "shoot",
        plural: "shoots",
        mutating_path: "/webhooks/mutate-shoot",
        validating_path: "/webhooks/validate-shoot",
    },
    Resource {
        name: "cloud-profile",
        plural: "cloudprofiles",
        mutating_path: "/webhooks/mutate-cloud-profile",
        validating_path: "/webhooks/validate-cloud-profile",
    },
];
