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
use api::resources::{KEEP_OBJECT, TOKEN_EXPIRATION_DURATION};
use secrets::AuthorityChoice;
use serde_json::{Value, json};

use super::error::RenderError;
use super::generated::{RequestedSecret, service_names};
use super::lifecycle::{AwaitedState, Lifecycle, ManagedWait, ObjectWait, RemovalStep};
use super::managed::ManagedObjects;
use super::networks::AllowedPods;
use super::objects::{annotate, entries, metadata, service_port, vertical_pod_autoscaler, with};
use super::rendering::{AccessSecret, DirectStep, Rendering};
use super::values::GardenValues;
use super::{NAMESPACE, access, rbac};

pub use self::bootstrap::{bootstrap_request, must_bootstrap};

/// The name of most of its objects.
pub const NAME: &str = "virtual-garden-gardener-resource-manager";
/// The ManagedResource with what it needs in the virtual cluster.
pub const MANAGED: &str = "shoot-core-gardener-resource-manager";
/// Name of the request of the authority of components in the runtime cluster.
pub const CA_RUNTIME: &str = "ca-garden-runtime";
/// Its ServiceAccount in the virtual cluster, and its container.
const CLIENT: &str = "gardener-resource-manager";
/// The server certificate.
const SERVER_CERTIFICATE: &str = "virtual-garden-gardener-resource-manager-server";
/// The resource-manager of the runtime cluster has an object of the same name; this one is written last. OPC-113.
const VPA_NAME: &str = "gardener-resource-manager-vpa";
const METRICS_PORT: u16 = 8080;
const HEALTH_PORT: u16 = 8081;
const SERVER_PORT: u16 = 10250;
/// How long a token of its own is valid.
const TOKEN_EXPIRATION: &str = "24h";

/// What it needs from the secrets manager.
#[must_use]
pub fn requests(_: &Garden) -> Vec<RequestedSecret> {
    let names = service_names(NAME, NAMESPACE);
    let choice = AuthorityChoice::Current;
    vec![RequestedSecret::server(SERVER_CERTIFICATE, NAME, names, CA_RUNTIME, choice)]
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
    let object = RemovalStep::object;
    Lifecycle {
        ready: vec![ObjectWait::deployment(NAME, AwaitedState::Healthy, Duration::from_mins(5))],
        removal: vec![
            RemovalStep::Managed(MANAGED.to_owned()),
            RemovalStep::AwaitGone(ManagedWait::of(&[MANAGED], Duration::from_mins(2))),
            object("policy/v1", "PodDisruptionBudget", NAME),
            object("autoscaling.k8s.io/v1", "VerticalPodAutoscaler", VPA_NAME),
            object("apps/v1", "Deployment", NAME),
            object("v1", "Service", NAME),
            object("v1", "ServiceAccount", NAME),
            RemovalStep::secret(&access::secret_name(CLIENT)),
            object(rbac, "Role", NAME),
            object(rbac, "RoleBinding", NAME),
        ],
        ..Lifecycle::default()
    }
}

fn render_with(values: &GardenValues<'_>, bootstrap: Option<&str>) -> Result<Rendering, RenderError> {
    let config_map = configuration::config_map(values)?;
    let deployment = deployment::deployment(values, &config_map, bootstrap)?;
    let policy = json!({
        "containerName": "*",
        "minAllowed": { "memory": "30Mi" },
        "maxAllowed": { "cpu": "4", "memory": "10G" },
        "controlledValues": "RequestsOnly",
    });
    let steps = vec![
        access_secret(),
        DirectStep::Patch(service_account()),
        DirectStep::Create(config_map),
        DirectStep::Patch(role()),
        DirectStep::Patch(role_binding()),
        DirectStep::Patch(service()),
        DirectStep::Patch(deployment),
        DirectStep::Patch(disruption_budget()),
        DirectStep::Patch(vertical_pod_autoscaler(VPA_NAME, NAME, &labels(), &policy)),
    ];
    let in_virtual = vec![webhooks::configuration(values)?, administrator()];
    let managed = vec![ManagedObjects::in_virtual(MANAGED, in_virtual)];
    Ok(Rendering { steps, managed, ..Rendering::default() })
}

/// Labels by which its Pods are selected.
fn app() -> BTreeMap<String, String> {
    entries([("app", NAME)])
}

/// Labels of its objects, and of its Pods.
fn labels() -> BTreeMap<String, String> {
    with(app(), entries([(api::gardener::ROLE, api::gardener::ROLE_CONTROL_PLANE)]))
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

fn service_account() -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": metadata(NAME, &labels()),
        "automountServiceAccountToken": false,
    })
}

fn role() -> Value {
    let named = |group: &str, resource: &str, verbs: &[&str]| json!({ "apiGroups": [group], "resources": [resource], "resourceNames": [NAME], "verbs": verbs });
    let all = ["get", "list", "watch", "update", "patch"];
    json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "Role",
        "metadata": metadata(NAME, &labels()),
        "rules": [
            rbac::rule(&[api::resources::GROUP], &["managedresources", "managedresources/status"], &all),
            rbac::rule(&[""], &["secrets"], &all),
            rbac::rule(&[""], &["configmaps", "events"], &["create"]),
            named("", "configmaps", &["get", "watch", "update", "patch"]),
            rbac::rule(&["coordination.k8s.io"], &["leases"], &["create"]),
            named("coordination.k8s.io", "leases", &["get", "watch", "update"]),
            rbac::rule(&["machine.sapcloud.io"], &["machines"], rbac::READ),
        ],
    })
}

fn role_binding() -> Value {
    let account = json!({ "kind": "ServiceAccount", "name": NAME, "namespace": NAMESPACE });
    rbac::role_binding(NAME, NAMESPACE, &labels(), NAME, &[account])
}

/// Its traffic is not kept in its zone, whatever the setting says.
fn service() -> Value {
    let mut service = json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata(NAME, &labels()),
        "spec": {
            "type": "ClusterIP",
            "selector": app(),
            "ports": [
                service_port("metrics", METRICS_PORT, METRICS_PORT),
                service_port("health", HEALTH_PORT, HEALTH_PORT),
                service_port("server", 443, SERVER_PORT),
            ],
        },
    });
    annotate(&mut service, AllowedPods::ScrapeTargets.annotation(&[METRICS_PORT]));
    annotate(&mut service, AllowedPods::WebhookTargets.annotation(&[SERVER_PORT]));
    service
}

fn disruption_budget() -> Value {
    super::objects::pod_disruption_budget(NAME, &labels())
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
