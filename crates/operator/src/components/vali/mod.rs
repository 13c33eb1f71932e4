//! Vali, which stores logs and answers questions about them.
//!
//! Files of configuration and scripts are our own, so that the name of the ConfigMap with them is another than the original's.

mod configuration;
mod scaling;
mod stateful_set;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use api::gardener::ROLE;
use serde_json::Value;

use super::access;
use super::error::RenderError;
use super::lifecycle::{Lifecycle, RemovalStep};
use super::managed::ManagedObjects;
use super::networks::AllowedPods;
use super::objects::{annotate, entries, service, service_port};
use super::rendering::{DirectStep, Rendering, name_of};
use super::values::GardenValues;

/// Name of its StatefulSet and of the ManagedResource.
pub const NAME: &str = "vali";
/// The Service to which logs are sent.
pub const SERVICE: &str = "logging";
/// The port of that.
pub const PORT: u16 = 3100;

/// The ManagedResource that only control planes of Shoots have, whose nodes send logs.
const TARGET_MANAGED: &str = "vali-target";
/// Clients of a Shoot's API server, which only they have.
const CLIENTS: [&str; 2] = ["valitail", "kube-rbac-proxy"];

/// What must be written, after the deletion of what is for Shoots. OPC-052, OPC-053.
///
/// # Errors
/// If there is no image.
pub fn render(values: &GardenValues<'_>) -> Result<Rendering, RenderError> {
    let config_map = configuration::config_map()?;
    let stateful_set = stateful_set::stateful_set(values, name_of(&config_map))?;
    let mut objects = vec![config_map, logging_service(), stateful_set];
    objects.extend(values.has_hvpa().then(|| scaling::hvpa(values)));
    let mut steps = vec![DirectStep::DeleteManaged(TARGET_MANAGED.to_owned())];
    steps.extend(CLIENTS.map(access::deletion));
    Ok(Rendering { steps, managed: vec![ManagedObjects::in_runtime(NAME, objects)], awaited_service: None })
}

/// Nothing is awaited, also not that it is gone. OPC-137.
#[must_use]
pub fn lifecycle() -> Lifecycle {
    let managed = [TARGET_MANAGED, NAME].map(|name| RemovalStep::Managed(name.to_owned()));
    let secrets = CLIENTS.map(|client| RemovalStep::secret(&access::secret_name(client)));
    Lifecycle { removal: managed.into_iter().chain(secrets).collect(), ..Lifecycle::default() }
}

/// Labels of its objects and Pods.
fn labels() -> BTreeMap<String, String> {
    entries([(ROLE, "logging"), ("role", "logging"), ("app", NAME)])
}

/// OPC-052.
fn logging_service() -> Value {
    let mut service = service(SERVICE, &labels(), &[service_port("metrics", PORT, PORT)]);
    annotate(&mut service, AllowedPods::SeedScrapeTargets.annotation(&[PORT]));
    service
}
