//! The vertical pod autoscaler: a recommender, an updater that evicts Pods, and an admission controller that gives them their requests.
//!
//! [`requests`] says what the secrets manager must generate, then [`render`] what must be written. If a Garden does not want it, its
//! ManagedResource is empty, which removes what was there.

mod deployment;
mod permissions;
mod programs;
#[cfg(test)]
mod tests;
mod webhook;

use std::collections::BTreeMap;

use api::gardener::ROLE;
use api::operator::Garden;
use secrets::AuthorityChoice;
use serde_json::{Value, json};

use self::programs::{AutoscalerProgram, PROGRAMS};
use super::NAMESPACE;
use super::error::RenderError;
use super::generated::{CA_RUNTIME, RequestedSecret, service_names};
use super::managed::ManagedObjects;
use super::networks::{AllowedPods, from_world};
use super::objects::{annotate, entries, metadata, service_account, vertical_pod_autoscaler};
use super::rendering::Rendering;
use super::values::GardenValues;

/// The ManagedResource.
pub const MANAGED: &str = "vpa";

/// The server certificate of the admission controller.
const SERVER_CERTIFICATE: &str = "vpa-admission-controller-server";
/// The Service of the admission controller's webhook.
const WEBHOOK_SERVICE: &str = "vpa-webhook";
const WEBHOOK_SERVICE_PORT: u16 = 443;
const WEBHOOK_PORT: u16 = 10250;

/// What it needs from the secrets manager, whether it is wanted or not.
#[must_use]
pub fn requests(_: &Garden) -> Vec<RequestedSecret> {
    let (names, choice) = (service_names(WEBHOOK_SERVICE, NAMESPACE), AuthorityChoice::Current);
    let common_name = format!("{WEBHOOK_SERVICE}.{NAMESPACE}.svc");
    vec![RequestedSecret::server(SERVER_CERTIFICATE, &common_name, names, CA_RUNTIME, choice)]
}

/// Its objects. OPC-038, OPC-039, OPC-040.
///
/// # Errors
/// If a Secret was not generated, or there is no image.
pub fn render(values: &GardenValues<'_>) -> Result<Rendering, RenderError> {
    let certificate = values.secrets.name(SERVER_CERTIFICATE)?;
    let objects = if values.has_pod_autoscaler() { all_objects(values, certificate)? } else { Vec::new() };
    Ok(Rendering { managed: vec![ManagedObjects::in_runtime(MANAGED, objects)], ..Rendering::default() })
}

fn all_objects(values: &GardenValues<'_>, certificate: &str) -> Result<Vec<Value>, RenderError> {
    let mut objects = permissions::objects();
    for program in PROGRAMS {
        objects.push(service_account(program.name, &role()));
        objects.push(program.deployment(values, certificate)?);
        objects.extend(program.memory.map(|memory| autoscaler(&program, memory)));
    }
    objects.extend([
        disruption_budget(),
        webhook_service(),
        metrics_service(),
        webhook::configuration(values)?,
    ]);
    Ok(objects)
}

/// The label of its objects.
fn role() -> BTreeMap<String, String> {
    entries([(ROLE, "vpa")])
}

/// It scales the requests of a program of its own, not the limits.
fn autoscaler(program: &AutoscalerProgram, memory: &str) -> Value {
    let policy = json!({
        "containerName": "*",
        "controlledValues": "RequestsOnly",
        "minAllowed": {"memory": memory},
    });
    vertical_pod_autoscaler(program.name, program.name, &BTreeMap::new(), &policy)
}

fn disruption_budget() -> Value {
    let name = programs::ADMISSION_CONTROLLER.name;
    json!({
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": metadata(name, &role()),
        "spec": {"maxUnavailable": 1, "selector": {"matchLabels": {"app": name}}},
    })
}

fn webhook_service() -> Value {
    let app = programs::ADMISSION_CONTROLLER.name;
    let mut service = service(WEBHOOK_SERVICE, app, WEBHOOK_SERVICE_PORT, WEBHOOK_PORT);
    annotate(&mut service, from_world(&[WEBHOOK_PORT]));
    service
}

/// Metrics of the recommender. Those of the others are not read.
fn metrics_service() -> Value {
    let (name, port) = (programs::RECOMMENDER.name, programs::RECOMMENDER.metrics_port);
    let mut service = service(name, name, port, port);
    annotate(&mut service, AllowedPods::SeedScrapeTargets.annotation(&[port]));
    service
}

/// A Service with one port, which needs no name.
fn service(name: &str, app: &str, port: u16, target: u16) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata(name, &BTreeMap::new()),
        "spec": {"selector": {"app": app}, "ports": [{"port": port, "targetPort": target}]},
    })
}
