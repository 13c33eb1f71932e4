//! The resource-manager of the runtime cluster: it applies ManagedResources of the class `seed` there, reviews objects, and writes
//! NetworkPolicies.
//!
//! [`requests`] says what the secrets manager must generate, then [`render`] what must be written. CustomResourceDefinitions come before,
//! all other components after it.

mod configuration;
mod deployment;
#[cfg(test)]
mod tests;
mod webhooks;

use api::gardener::DELETION_PROTECTED;
use api::operator::Garden;
use api::resources::HA_SKIP;
use serde_json::Value;

use super::error::RenderError;
use super::existing::remove_stale;
use super::generated::RequestedSecret;
use super::lifecycle::{Lifecycle, RemovalStep};
use super::networks::{AllowedPods, from_world};
use super::rbac::{ALL, cluster_role, cluster_role_binding, rule, runtime_account};
use super::rendering::{DirectStep, ObjectName, Rendering};
use super::resource_manager_program::{METRICS_PORT, ResourceManagerProgram, SERVER_PORT};
use super::topology;
use super::values::GardenValues;

/// The name of most of its objects.
pub const NAME: &str = "gardener-resource-manager";
/// The ClusterRole and its binding.
const ROLE: &str = "gardener-resource-manager-seed";
/// The CustomResourceDefinition of ManagedResources.
const DEFINITION: &str = "managedresources.resources.gardener.cloud";
/// API version and kind of it.
const DEFINITIONS: [&str; 2] = ["apiextensions.k8s.io/v1", "CustomResourceDefinition"];
const REGISTRATIONS: &str = "admissionregistration.k8s.io/v1";
const RBAC: &str = "rbac.authorization.k8s.io/v1";
/// The program. OPC-025.
const PROGRAM: ResourceManagerProgram = ResourceManagerProgram {
    name: NAME,
    role: "seed",
    marks_objects: false,
    availability: [HA_SKIP, "true"],
    certificate: "gardener-resource-manager-server",
    priority: "gardener-garden-system-critical",
    memory: "64Mi",
};

/// What it needs from the secrets manager.
#[must_use]
pub fn requests(_: &Garden) -> Vec<RequestedSecret> {
    vec![PROGRAM.request()]
}

/// What must be written, in the original's order. OPC-025 to -033.
///
/// # Errors
/// If a Secret was not generated, or there is no image.
pub fn render(values: &GardenValues<'_>) -> Result<Rendering, RenderError> {
    let config_map = configuration::config_map(values)?;
    let deployment = deployment::deployment(values, &config_map)?;
    let steps = vec![
        DirectStep::Patch(definition()?),
        DirectStep::Patch(PROGRAM.service_account()),
        DirectStep::Create(config_map),
        DirectStep::Patch(cluster_role(ROLE, &PROGRAM.app(), &[rule(ALL, ALL, ALL)])),
        DirectStep::Patch(cluster_role_binding(ROLE, &PROGRAM.app(), ROLE, &[runtime_account(NAME)])),
        DirectStep::Patch(service(values)),
        DirectStep::Patch(deployment),
        DirectStep::Patch(PROGRAM.disruption_budget()),
        DirectStep::Patch(PROGRAM.autoscaler()),
        DirectStep::Patch(webhooks::mutating(values)?),
        DirectStep::Patch(webhooks::validating(values)?),
    ];
    Ok(Rendering { steps, ..Rendering::default() })
}

/// How it is awaited and taken down: ManagedResources must be gone before, as their CustomResourceDefinition goes first. OPC-023.
#[must_use]
pub fn lifecycle() -> Lifecycle {
    let [version, kind] = DEFINITIONS;
    let object = RemovalStep::cluster_object;
    let mut removal = vec![
        RemovalStep::Confirm(ObjectName::in_cluster(version, kind, DEFINITION)),
        object(version, kind, DEFINITION),
        object(REGISTRATIONS, webhooks::MUTATING, NAME),
        object(REGISTRATIONS, webhooks::VALIDATING, NAME),
        object(RBAC, "ClusterRole", ROLE),
        object(RBAC, "ClusterRoleBinding", ROLE),
    ];
    removal.extend(PROGRAM.removal());
    Lifecycle { ready: vec![PROGRAM.wait()], removal, ..Lifecycle::default() }
}

/// The CustomResourceDefinition of ManagedResources, which is the project's own: its schema is open.
fn definition() -> Result<Value, RenderError> {
    let shipped = schema::crds().iter().find(|definition| definition.name() == DEFINITION);
    let mut definition = shipped.ok_or(RenderError::UnknownDefinition(DEFINITION))?.json().clone();
    definition["metadata"]["labels"][DELETION_PROTECTED] = "true".into();
    Ok(definition)
}

/// Whatever an earlier version has said about its zone is taken away.
fn service(values: &GardenValues<'_>) -> Value {
    let mut service = PROGRAM
        .service([AllowedPods::SeedScrapeTargets.annotation(&[METRICS_PORT]), from_world(&[SERVER_PORT])]);
    let existing = values.observed.existing.get("v1", "Service", NAME);
    remove_stale(&mut service, existing, &topology::FIELDS);
    service
}
