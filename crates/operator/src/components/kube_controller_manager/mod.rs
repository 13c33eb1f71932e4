//! kube-controller-manager of the virtual cluster: ten controllers, none of which knows Pods or nodes.
//!
//! [`requests`] says what the secrets manager must generate, then [`render`] what must be written. kube-apiserver comes before, which
//! asks for the key that signs tokens.

mod command;
mod deployment;
mod scaling;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::time::Duration;

use api::operator::Garden;
use secrets::AuthorityChoice;
use serde_json::Value;

use super::error::RenderError;
use super::generated::{CA, RequestedSecret, service_names};
use super::lifecycle::{AwaitedState, Lifecycle, ManagedWait, ObjectWait, RemovalStep};
use super::managed::ManagedObjects;
use super::networks::AllowedPods;
use super::objects::{annotate, entries, pod_disruption_budget, service, service_port};
use super::rendering::{DirectStep, Rendering};
use super::values::GardenValues;
use super::{NAMESPACE, access, rbac};

/// The name of most of its objects.
pub const NAME: &str = "virtual-garden-kube-controller-manager";
/// The ManagedResource with its permissions in the virtual cluster.
pub const MANAGED: &str = "shoot-core-kube-controller-manager";
/// Its name in the virtual cluster, and its container.
const CLIENT: &str = "kube-controller-manager";
/// The server certificate.
const SERVER_CERTIFICATE: &str = "kube-controller-manager-server";
/// Where it serves metrics and health.
const PORT: u16 = 10257;

/// What it needs from the secrets manager.
#[must_use]
pub fn requests(_: &Garden) -> Vec<RequestedSecret> {
    let names = service_names(NAME, NAMESPACE);
    vec![RequestedSecret::server(SERVER_CERTIFICATE, NAME, names, CA, AuthorityChoice::ByKind)]
}

/// What must be written, in the original's order. OPC-103 to -108.
///
/// # Errors
/// If the network of services is none, a Secret was not generated, or there is no image.
pub fn render(values: &GardenValues<'_>) -> Result<Rendering, RenderError> {
    let binding = rbac::cluster_role_binding(
        "gardener.cloud:target:kube-controller-manager",
        &BTreeMap::new(),
        "system:kube-controller-manager",
        &[rbac::account(CLIENT)],
    );
    let mut steps = vec![
        DirectStep::Patch(metrics_service()),
        access::secret(CLIENT),
        DirectStep::Patch(deployment::deployment(values)?),
        DirectStep::Patch(pod_disruption_budget(NAME, &labels())),
    ];
    steps.extend(scaling::steps(values));
    let managed = ManagedObjects::in_virtual(MANAGED, vec![binding]);
    Ok(Rendering { steps, managed: vec![managed.keeping_objects()], ..Rendering::default() })
}

/// How it is awaited and taken down.
#[must_use]
pub fn lifecycle() -> Lifecycle {
    let within = Duration::from_mins(3);
    let mut removal = vec![RemovalStep::ManagedAlone(MANAGED.to_owned())];
    removal.extend(scaling::removal());
    removal.extend([
        RemovalStep::object("v1", "Service", NAME),
        RemovalStep::object("policy/v1", "PodDisruptionBudget", NAME),
        RemovalStep::object("apps/v1", "Deployment", NAME),
        RemovalStep::secret(&access::secret_name(CLIENT)),
    ]);
    Lifecycle {
        ready: vec![ObjectWait::deployment(NAME, AwaitedState::RolledOut, within)],
        removal,
        removed: vec![ManagedWait::of(&[MANAGED], within)],
        ..Lifecycle::default()
    }
}

/// Labels by which its Pods are selected.
fn labels() -> BTreeMap<String, String> {
    entries([("app", "kubernetes"), ("role", "controller-manager")])
}

/// OPC-107.
fn metrics_service() -> Value {
    let mut service = service(NAME, &labels(), &[service_port("metrics", PORT, PORT)]);
    service["spec"]["clusterIP"] = "None".into();
    annotate(&mut service, AllowedPods::ScrapeTargets.annotation(&[PORT]));
    service
}
