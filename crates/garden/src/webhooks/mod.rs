//! Admission of the garden's kinds, as pure functions over whole objects; time, randomness and facts of the garden are
//! arguments.
//!
//! An object passes twice: `mutate` of its module sets defaults and refuses nothing, `validate` changes nothing. Kinds
//! without defaults have no `mutate`. The other modules are named as the contracts that they implement.
//!
//! The original does more than a webhook can, and this component does not claim it: it sets `metadata.generation` only
//! if the spec changes, ignores a status that is written with the object, checks a status that is written alone, removes
//! the annotation of an operation as it raises the generation (of Seeds, BackupBuckets, BackupEntries, ManagedSeeds and
//! ManagedSeedSets), writes when a Bastion was last heard of and when it expires, allows or demands a `resourceVersion` by
//! kind, and serves the scale of ManagedSeedSets. The API server that serves the custom resources has its own rules for
//! these, and checks all metadata but the name; its names of BackupEntries and ManagedSeedSets are DNS subdomains.
//!
//! The original stores the configuration of a gardenlet as its own type writes it: without unknown fields, and with the
//! empty ones that it always has. Here it stays as it was written, but for its defaults, version and kind.

mod annotations;
pub mod backup_bucket;
pub mod backup_entry;
pub mod bastion;
mod bounds;
mod certificates;
mod cidr;
pub mod cloud_profile;
pub mod cloud_profile_defaults;
pub mod cloud_profile_images;
pub mod cloud_profile_in_use;
pub mod cloud_profile_machine_types;
pub mod cloud_profile_places;
pub mod cloud_profile_seed_selector;
pub mod cloud_profile_versions;
pub mod cluster_open_id_connect_preset;
mod cluster_open_id_connect_preset_defaults;
pub mod controller_deployment;
pub mod controller_installation;
pub mod controller_registration;
mod controller_registration_defaults;
pub mod controller_registration_differences;
pub mod controller_registration_resources;
mod differences;
pub mod exposure_class;
pub(crate) mod field_errors;
pub(crate) mod gardenlet_configuration;
mod gardenlet_connection;
mod gardenlet_controllers;
mod gardenlet_notation;
mod gardenlet_resources;
mod gardenlet_seed;
pub(crate) mod go_value;
pub mod internal_secret;
mod internal_secret_data;
pub mod internal_secret_defaults;
mod ip_families;
pub(crate) mod kubernetes_version;
mod label_selector;
mod labels;
pub mod managed_seed;
mod managed_seed_defaults;
mod managed_seed_deployment;
pub mod managed_seed_set;
mod managed_seed_set_defaults;
mod managed_seed_set_templates;
mod managed_seed_spec;
mod metadata;
mod names;
pub(crate) mod networks;
mod open_id_connect;
pub mod open_id_connect_preset;
mod open_id_connect_preset_defaults;
mod operation;
mod pod_tolerations;
pub mod project;
pub mod project_defaults;
pub mod project_members;
pub mod project_roles;
pub mod project_subjects;
pub mod quota;
pub(crate) mod reading;
pub(crate) mod references;
mod resource_quantity;
pub mod secret_binding;
mod secret_binding_defaults;
pub mod seed;
pub mod seed_changes;
mod seed_defaults;
pub mod seed_ingress;
pub mod seed_networks;
pub mod seed_settings;
pub mod seed_spec;
pub(crate) mod selection;
pub mod shoot;
mod shoot_addons;
mod shoot_admission_plugins;
mod shoot_autoscaling;
mod shoot_control_plane;
pub mod shoot_defaults;
mod shoot_deletion;
mod shoot_dns;
mod shoot_extensions;
mod shoot_feature_gates;
mod shoot_feature_gates_known;
mod shoot_hibernation;
mod shoot_kube_api_server;
mod shoot_kube_controller_manager;
mod shoot_kube_scheduler;
mod shoot_kubelet;
pub mod shoot_kubelet_defaults;
mod shoot_kubelet_eviction;
pub mod shoot_kubernetes;
pub mod shoot_kubernetes_defaults;
pub mod shoot_machine_types;
pub mod shoot_maintenance;
pub(crate) mod shoot_metadata;
mod shoot_monitoring;
mod shoot_networking;
mod shoot_node_capacity;
mod shoot_oidc;
pub mod shoot_operations;
mod shoot_pool_counts;
mod shoot_pool_taints;
mod shoot_pool_volumes;
pub mod shoot_pools;
pub mod shoot_preparation;
pub mod shoot_profile;
mod shoot_provider;
mod shoot_references;
mod shoot_spec;
pub mod shoot_state;
pub(crate) mod shoot_system_components;
mod shoot_update;
mod ssh_public_key;
pub(crate) mod tolerations;

use api::garden::{API_VERSION, operations, seed_management, settings};
use serde_json::Value;
use webhook::rejection::Rejection;

pub use field_errors::FieldErrors;

/// A resource under admission, and the paths of its webhooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resource {
    /// Its group and version.
    pub api_version: &'static str,
    /// Its kind.
    pub kind: &'static str,
    /// Name of its webhooks.
    pub name: &'static str,
    /// The resource.
    pub plural: &'static str,
    /// Path of the mutating webhook, if the kind has defaults.
    pub mutating_path: Option<&'static str>,
    /// Path of the validating webhook.
    pub validating_path: &'static str,
}

/// Sets the defaults of an object; of an update, the first argument is the old one.
pub type Mutate = fn(Option<&Value>, &mut Value) -> Result<(), Rejection>;
/// Validates a new object; of an update, the first argument is the old one.
pub type Validate = fn(Option<&Value>, &Value) -> Result<(), Rejection>;

/// Shoots.
pub const SHOOTS: Resource = Resource {
    api_version: API_VERSION,
    kind: "Shoot",
    name: "shoot",
    plural: "shoots",
    mutating_path: Some("/webhooks/mutate-shoot"),
    validating_path: "/webhooks/validate-shoot",
};
/// CloudProfiles.
pub const CLOUD_PROFILES: Resource = Resource {
    api_version: API_VERSION,
    kind: "CloudProfile",
    name: "cloud-profile",
    plural: "cloudprofiles",
    mutating_path: Some("/webhooks/mutate-cloud-profile"),
    validating_path: "/webhooks/validate-cloud-profile",
};

/// The resources whose webhooks need no facts of the garden, with the functions of the webhooks.
pub const WITHOUT_FACTS: &[(Resource, Option<Mutate>, Validate)] = &[
    (
        Resource {
            api_version: API_VERSION,
            kind: "BackupBucket",
            name: "backup-bucket",
            plural: "backupbuckets",
            mutating_path: None,
            validating_path: "/webhooks/validate-backup-bucket",
        },
        None,
        backup_bucket::validate,
    ),
    (
        Resource {
            api_version: API_VERSION,
            kind: "BackupEntry",
            name: "backup-entry",
            plural: "backupentries",
            mutating_path: None,
            validating_path: "/webhooks/validate-backup-entry",
        },
        None,
        backup_entry::validate,
    ),
    (
        Resource {
            api_version: operations::API_VERSION,
            kind: "Bastion",
            name: "bastion",
            plural: "bastions",
            mutating_path: None,
            validating_path: "/webhooks/validate-bastion",
        },
        None,
        bastion::validate,
    ),
    (
        Resource {
            api_version: settings::API_VERSION,
            kind: "ClusterOpenIDConnectPreset",
            name: "cluster-open-id-connect-preset",
            plural: "clusteropenidconnectpresets",
            mutating_path: Some("/webhooks/mutate-cluster-open-id-connect-preset"),
            validating_path: "/webhooks/validate-cluster-open-id-connect-preset",
        },
        Some(|_, object| cluster_open_id_connect_preset::mutate(object)),
        cluster_open_id_connect_preset::validate,
    ),
    (
        Resource {
            api_version: API_VERSION,
            kind: "ControllerDeployment",
            name: "controller-deployment",
            plural: "controllerdeployments",
            mutating_path: None,
            validating_path: "/webhooks/validate-controller-deployment",
        },
        None,
        controller_deployment::validate,
    ),
    (
        Resource {
            api_version: API_VERSION,
            kind: "ControllerInstallation",
            name: "controller-installation",
            plural: "controllerinstallations",
            mutating_path: None,
            validating_path: "/webhooks/validate-controller-installation",
        },
        None,
        controller_installation::validate,
    ),
    (
        Resource {
            api_version: API_VERSION,
            kind: "ControllerRegistration",
            name: "controller-registration",
            plural: "controllerregistrations",
            mutating_path: Some("/webhooks/mutate-controller-registration"),
            validating_path: "/webhooks/validate-controller-registration",
        },
        Some(|_, object| controller_registration::mutate(object)),
        controller_registration::validate,
    ),
    (
        Resource {
            api_version: API_VERSION,
            kind: "ExposureClass",
            name: "exposure-class",
            plural: "exposureclasses",
            mutating_path: None,
            validating_path: "/webhooks/validate-exposure-class",
        },
        None,
        exposure_class::validate,
    ),
    (
        Resource {
            api_version: API_VERSION,
            kind: "InternalSecret",
            name: "internal-secret",
            plural: "internalsecrets",
            mutating_path: Some("/webhooks/mutate-internal-secret"),
            validating_path: "/webhooks/validate-internal-secret",
        },
        Some(internal_secret_defaults::mutate),
        internal_secret::validate,
    ),
    (
        Resource {
            api_version: seed_management::API_VERSION,
            kind: "ManagedSeed",
            name: "managed-seed",
            plural: "managedseeds",
            mutating_path: Some("/webhooks/mutate-managed-seed"),
            validating_path: "/webhooks/validate-managed-seed",
        },
        Some(|_, object| managed_seed::mutate(object)),
        managed_seed::validate,
    ),
    (
        Resource {
            api_version: seed_management::API_VERSION,
            kind: "ManagedSeedSet",
            name: "managed-seed-set",
            plural: "managedseedsets",
            mutating_path: Some("/webhooks/mutate-managed-seed-set"),
            validating_path: "/webhooks/validate-managed-seed-set",
        },
        Some(|_, object| managed_seed_set::mutate(object)),
        managed_seed_set::validate,
    ),
    (
        Resource {
            api_version: settings::API_VERSION,
            kind: "OpenIDConnectPreset",
            name: "open-id-connect-preset",
            plural: "openidconnectpresets",
            mutating_path: Some("/webhooks/mutate-open-id-connect-preset"),
            validating_path: "/webhooks/validate-open-id-connect-preset",
        },
        Some(|_, object| open_id_connect_preset::mutate(object)),
        open_id_connect_preset::validate,
    ),
    (
        Resource {
            api_version: API_VERSION,
            kind: "Project",
            name: "project",
            plural: "projects",
            mutating_path: Some("/webhooks/mutate-project"),
            validating_path: "/webhooks/validate-project",
        },
        Some(|_, object| project::mutate(object)),
        project::validate,
    ),
    (
        Resource {
            api_version: API_VERSION,
            kind: "Quota",
            name: "quota",
            plural: "quotas",
            mutating_path: None,
            validating_path: "/webhooks/validate-quota",
        },
        None,
        quota::validate,
    ),
    (
        Resource {
            api_version: API_VERSION,
            kind: "SecretBinding",
            name: "secret-binding",
            plural: "secretbindings",
            mutating_path: Some("/webhooks/mutate-secret-binding"),
            validating_path: "/webhooks/validate-secret-binding",
        },
        Some(|_, object| secret_binding::mutate(object)),
        secret_binding::validate,
    ),
    (
        Resource {
            api_version: API_VERSION,
            kind: "Seed",
            name: "seed",
            plural: "seeds",
            mutating_path: Some("/webhooks/mutate-seed"),
            validating_path: "/webhooks/validate-seed",
        },
        Some(|_, object| seed::mutate(object)),
        seed::validate,
    ),
    (
        Resource {
            api_version: API_VERSION,
            kind: "ShootState",
            name: "shoot-state",
            plural: "shootstates",
            mutating_path: None,
            validating_path: "/webhooks/validate-shoot-state",
        },
        None,
        shoot_state::validate,
    ),
];

/// All resources.
pub fn resources() -> impl Iterator<Item = Resource> {
    [SHOOTS, CLOUD_PROFILES].into_iter().chain(WITHOUT_FACTS.iter().map(|(resource, ..)| *resource))
}

impl Resource {
    /// The paths of its webhooks.
    pub fn paths(self) -> impl Iterator<Item = &'static str> {
        self.mutating_path.into_iter().chain([self.validating_path])
    }
}
