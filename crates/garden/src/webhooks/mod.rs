//! Admission of the garden's kinds, as pure functions over whole objects; time, randomness and facts of the garden are
//! arguments.
//!
//! An object passes twice: `mutate` of its module sets defaults and refuses nothing, `validate` changes nothing. Kinds
//! without defaults have no `mutate`. The other modules are named as the contracts that they implement.
//!
//! The original does more than a webhook can, and this component does not claim it: it sets `metadata.generation` only
//! if the spec changes, ignores a status that is written with the object, checks a status that is written alone, and
//! allows or demands a `resourceVersion` by kind. The API server that serves the custom resources has its own rules for
//! these, and checks all metadata but the name.

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
pub mod controller_deployment;
pub mod controller_installation;
pub mod controller_registration;
mod controller_registration_defaults;
pub mod controller_registration_differences;
pub mod controller_registration_resources;
mod differences;
pub mod exposure_class;
mod field_errors;
mod go_value;
mod kubernetes_version;
mod label_selector;
mod metadata;
mod names;
pub mod project;
pub mod project_defaults;
pub mod project_members;
pub mod project_roles;
pub mod project_subjects;
pub mod quota;
mod reading;
mod references;
mod resource_quantity;
pub mod secret_binding;
mod secret_binding_defaults;
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
mod shoot_metadata;
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
mod shoot_system_components;
mod shoot_update;
mod tolerations;

use serde_json::Value;
use webhook::rejection::Rejection;

pub use field_errors::FieldErrors;

/// A resource under admission, and the paths of its webhooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resource {
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

/// Sets the defaults of an object.
pub type Mutate = fn(&mut Value) -> Result<(), Rejection>;
/// Validates a new object; of an update, the first argument is the old one.
pub type Validate = fn(Option<&Value>, &Value) -> Result<(), Rejection>;

/// Shoots.
pub const SHOOTS: Resource = Resource {
    kind: "Shoot",
    name: "shoot",
    plural: "shoots",
    mutating_path: Some("/webhooks/mutate-shoot"),
    validating_path: "/webhooks/validate-shoot",
};
/// CloudProfiles.
pub const CLOUD_PROFILES: Resource = Resource {
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
            kind: "ControllerRegistration",
            name: "controller-registration",
            plural: "controllerregistrations",
            mutating_path: Some("/webhooks/mutate-controller-registration"),
            validating_path: "/webhooks/validate-controller-registration",
        },
        Some(controller_registration::mutate),
        controller_registration::validate,
    ),
    (
        Resource {
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
            kind: "Project",
            name: "project",
            plural: "projects",
            mutating_path: Some("/webhooks/mutate-project"),
            validating_path: "/webhooks/validate-project",
        },
        Some(project::mutate),
        project::validate,
    ),
    (
        Resource {
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
            kind: "SecretBinding",
            name: "secret-binding",
            plural: "secretbindings",
            mutating_path: Some("/webhooks/mutate-secret-binding"),
            validating_path: "/webhooks/validate-secret-binding",
        },
        Some(secret_binding::mutate),
        secret_binding::validate,
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
