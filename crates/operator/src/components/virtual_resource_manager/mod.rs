//! The resource-manager of the virtual cluster: it runs in the runtime cluster, applies ManagedResources to the virtual one, and requests
//! tokens of its ServiceAccounts.
//!
//! It needs a token itself, which it requests once it can work: [`must_bootstrap`] says whether it cannot, then
//! [`bootstrap_request`] and [`render_bootstrap`] come first, until it has one. [`requests`] says what the secrets manager must
//! generate, then [`render`] what must be written. kube-apiserver comes before.

mod bootstrap;
mod configuration;
mod deployment;
#[cfg(test)]
mod tests;
mod webhooks;

use std::collections::BTreeMap;
use std::time::Duration;

use api::operator::Garden;
use api::resources::{HA_TYPE, KEEP_OBJECT, TOKEN_EXPIRATION_DURATION};
use serde_json::Value;

use super::error::RenderError;
use super::generated::RequestedSecret;
use super::lifecycle::{Lifecycle, ManagedWait, RemovalStep};
use super::managed::ManagedObjects;
use super::networks::AllowedPods;
use super::objects::annotate;
use super::rendering::{AccessSecret, DirectStep, Rendering};
use super::resource_manager_program::{METRICS_PORT, ResourceManagerProgram, SERVER_PORT};
use super::values::GardenValues;
use super::{NAMESPACE, access, rbac};

pub use self::bootstrap::{bootstrap_request, must_bootstrap};

/// The name of most of its objects.
pub const NAME: &str = "virtual-garden-gardener-resource-manager";
/// The ManagedResource with what it needs in the virtual cluster.
pub const MANAGED: &str = "shoot-core-gardener-resource-manager";
/// Its ServiceAccount in the virtual cluster.
const CLIENT: &str = "gardener-resource-manager";
/// How long a token of its own is valid.
const TOKEN_EXPIRATION: &str = "24h";
/// The program. OPC-111.
const PROGRAM: ResourceManagerProgram = ResourceManagerProgram {
    name: NAME,
    role: api::gardener::ROLE_CONTROL_PLANE,
    marks_objects: true,
    availability: [HA_TYPE, "server"],
    certificate: "virtual-garden-gardener-resource-manager-server",
    priority: "gardener-garden-system-400",
    memory: "30Mi",
};

/// What it needs from the secrets manager.
#[must_use]
pub fn requests(_: &Garden) -> Vec<RequestedSecret> {
    vec![PROGRAM.request()]
}

/// What must be written, in the original's order. OPC-109, OPC-111 to -113.
///
/// # Errors
/// If a Secret was not generated, or there is no image.
pub fn render(values: &GardenValues<'_>) -> Result<Rendering, RenderError> {
    render_with(values, None)
}

/// The same with the kubeconfig of this Secret, which [`bootstrap_request`] was answered with, instead of a token. OPC-110.
///
/// # Errors
/// As [`render`].
pub fn render_bootstrap(values: &GardenValues<'_>, secret: &str) -> Result<Rendering, RenderError> {
    render_with(values, Some(secret))
}

/// How it is awaited and taken down: its permissions in the virtual cluster go first, as long as it can remove them. OPC-113.
#[must_use]
pub fn lifecycle() -> Lifecycle {
    let rbac = "rbac.authorization.k8s.io/v1";
    let mut removal = vec![
        RemovalStep::Managed(MANAGED.to_owned()),
        RemovalStep::AwaitGone(ManagedWait::of(&[MANAGED], Duration::from_mins(2))),
    ];
    removal.extend(PROGRAM.removal());
    removal.extend([
        RemovalStep::secret(&access::secret_name(CLIENT)),
        RemovalStep::object(rbac, "Role", NAME),
        RemovalStep::object(rbac, "RoleBinding", NAME),
    ]);
    Lifecycle { ready: vec![PROGRAM.wait()], removal, ..Lifecycle::default() }
}

fn render_with(values: &GardenValues<'_>, bootstrap: Option<&str>) -> Result<Rendering, RenderError> {
    let config_map = configuration::config_map(values)?;
    let deployment = deployment::deployment(values, &config_map, bootstrap)?;
    let steps = vec![
        access_secret(),
        DirectStep::Patch(PROGRAM.service_account()),
        DirectStep::Create(config_map),
        DirectStep::Patch(role()),
        DirectStep::Patch(role_binding()),
        DirectStep::Patch(service()),
        DirectStep::Patch(deployment),
        DirectStep::Patch(PROGRAM.disruption_budget()),
        DirectStep::Patch(PROGRAM.autoscaler()),
    ];
    let in_virtual = vec![webhooks::configuration(values)?, administrator()];
    let managed = vec![ManagedObjects::in_virtual(MANAGED, in_virtual)];
    Ok(Rendering { steps, managed, ..Rendering::default() })
}

/// OPC-111.
fn access_secret() -> DirectStep {
    match access::secret(CLIENT) {
        DirectStep::PatchLocked(AccessSecret { mut object, removed_key }) => {
            annotate(&mut object, (TOKEN_EXPIRATION_DURATION.to_owned(), TOKEN_EXPIRATION.to_owned()));
            DirectStep::PatchLocked(AccessSecret { object, removed_key })
        }
        other => other,
    }
}

fn role() -> Value {
    let all = ["get", "list", "watch", "update", "patch"];
    let (core, leases) = ("", "coordination.k8s.io");
    let rules = [
        rbac::rule(&[api::resources::GROUP], &["managedresources", "managedresources/status"], &all),
        rbac::rule(&[core], &["secrets"], &all),
        rbac::rule(&[core], &["configmaps", "events"], &["create"]),
        rbac::named_rule(core, "configmaps", NAME, &["get", "watch", "update", "patch"]),
        rbac::rule(&[leases], &["leases"], &["create"]),
        rbac::named_rule(leases, "leases", NAME, &["get", "watch", "update"]),
        rbac::rule(&["machine.sapcloud.io"], &["machines"], rbac::READ),
    ];
    rbac::role(NAME, &PROGRAM.labels(), &rules)
}

fn role_binding() -> Value {
    rbac::role_binding(NAME, NAMESPACE, &PROGRAM.labels(), NAME, &[rbac::runtime_account(NAME)])
}

fn service() -> Value {
    PROGRAM.service([
        AllowedPods::ScrapeTargets.annotation(&[METRICS_PORT]),
        AllowedPods::WebhookTargets.annotation(&[SERVER_PORT]),
    ])
}

/// It may do everything in the virtual cluster, also when the ManagedResource is gone.
fn administrator() -> Value {
    let mut binding = rbac::cluster_role_binding(
        "gardener.cloud:target:resource-manager",
        &BTreeMap::new(),
        "cluster-admin",
        &[rbac::account(CLIENT)],
    );
    annotate(&mut binding, (KEEP_OBJECT.to_owned(), "true".to_owned()));
    binding
}
