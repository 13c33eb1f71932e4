//! What the virtual cluster has from the beginning: the namespace `garden`, and roles of operators, users and seeds.

mod projects;
mod roles;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use api::resources::KEEP_OBJECT;
use serde_json::{Value, json};

use super::managed::ManagedObjects;
use super::rbac::{ALL, cluster_role, cluster_role_binding, group, rule};
use super::rendering::Rendering;
use super::values::GardenValues;

/// The ManagedResource.
pub const MANAGED: &str = "garden-system-virtual";

const CORE: &str = "core.gardener.cloud";
const SEED_MANAGEMENT: &str = "seedmanagement.gardener.cloud";
const DASHBOARD: &str = "dashboard.gardener.cloud";
const SETTINGS: &str = "settings.gardener.cloud";
const OPERATIONS: &str = "operations.gardener.cloud";
const RBAC: &str = "rbac.authorization.k8s.io";
const EVENTS: &str = "events.k8s.io";
const CERTIFICATES: &str = "certificates.k8s.io";
/// Verbs of those who may change objects.
const CHANGE: &[&str] = &["create", "delete", "deletecollection", "get", "list", "watch", "patch", "update"];

/// Its objects. Seeds may do everything as long as the API server does not ask what they may do. OPC-128, OPC-129.
#[must_use]
pub fn render(values: &GardenValues<'_>) -> Rendering {
    let mut objects = vec![namespace()];
    objects.extend(roles::objects());
    objects.extend(projects::objects());
    if !values.observed.has_seed_authorizer {
        objects.extend(seeds());
    }
    Rendering { managed: vec![ManagedObjects::in_virtual(MANAGED, objects)], ..Rendering::default() }
}

fn namespace() -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {
            "name": "garden",
            "labels": {"app": "gardener"},
            "annotations": {KEEP_OBJECT: "true"},
        },
    })
}

fn seeds() -> [Value; 2] {
    let name = "gardener.cloud:system:seeds";
    bound(name, &[rule(ALL, ALL, ALL)], &group("gardener.cloud:system:seeds"))
}

/// A ClusterRole without labels, and its binding to one subject.
fn bound(name: &str, rules: &[Value], subject: &Value) -> [Value; 2] {
    let labels = BTreeMap::new();
    [
        cluster_role(name, &labels, rules),
        cluster_role_binding(name, &labels, name, std::slice::from_ref(subject)),
    ]
}
