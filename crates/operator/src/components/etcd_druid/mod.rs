//! etcd-druid, which makes StatefulSets of Etcds.

mod command;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::time::Duration;

use api::gardener::ROLE;
use api::networking::{TO_DNS, TO_RUNTIME_API_SERVER};
use api::resources::{HA_TYPE, HA_TYPE_CONTROLLER};
use serde_json::{Value, json};

use super::access::push;
use super::error::RenderError;
use super::image_vector::{self, ImageVersions};
use super::lifecycle::{Lifecycle, ManagedWait, RemovalStep, RequiredAbsence};
use super::managed::ManagedObjects;
use super::networks::{AllowedPods, allowed};
use super::objects::{
    annotate, at_least, config_map_volume, entries, metadata, pod_disruption_budget, service,
    service_account, service_port, vertical_pod_autoscaler, with,
};
use super::rbac::{READ, cluster_role, cluster_role_binding, rule, runtime_account};
use super::rendering::{Rendering, name_of};
use super::values::GardenValues;
use super::{references, unique};

/// Name of its Deployment and of the ManagedResource.
pub const NAME: &str = "etcd-druid";

const RBAC_NAME: &str = "gardener.cloud:system:etcd-druid";
const METRICS_PORT: u16 = 8080;
/// Key of the image vector in its ConfigMap, and name of its volume.
const VECTOR_KEY: &str = "images_overwrite.yaml";
const VECTOR_VOLUME: &str = "imagevector-overwrite";
const VECTOR_FOLDER: &str = "/charts_overwrite";
/// Kinds of which no object may exist when it is removed.
const REQUIRED_ABSENCES: [RequiredAbsence; 2] = [
    RequiredAbsence {
        api_version: api::druid::API_VERSION,
        kind: "Etcd",
        refusal: "cannot debootstrap etcd-druid because there are still druidv1alpha1.Etcd resources left in the cluster",
    },
    RequiredAbsence {
        api_version: api::druid::API_VERSION,
        kind: "EtcdCopyBackupsTask",
        refusal: "cannot debootstrap etcd-druid because there are still druidv1alpha1.EtcdCopyBackupsTask resources left in the cluster",
    },
];

/// Its objects. OPC-042, OPC-043.
///
/// # Errors
/// If there is no image.
pub fn render(values: &GardenValues<'_>) -> Result<Rendering, RenderError> {
    let labels = labels();
    let mut deployment = deployment(values)?;
    let vector = values.component_images.get(NAME).map(|text| vector_config_map(text));
    if let Some(vector) = &vector {
        mount_vector(&mut deployment, name_of(vector));
    }
    let mut objects = vec![
        service_account(NAME, &labels),
        cluster_role(RBAC_NAME, &labels, &rules()),
        cluster_role_binding(RBAC_NAME, &labels, RBAC_NAME, &[runtime_account(NAME)]),
        pod_disruption_budget(NAME, &labels),
        vertical_pod_autoscaler("etcd-druid-vpa", NAME, &labels, &at_least("100M")),
        metrics_service(),
    ];
    objects.extend(vector);
    objects.push(deployment);
    Ok(Rendering { managed: vec![ManagedObjects::in_runtime(NAME, objects)], ..Rendering::default() })
}

/// It is awaited until it is rolled out, and stays while there is something for it to do. OPC-044.
#[must_use]
pub fn lifecycle() -> Lifecycle {
    let wait = ManagedWait::of(&[NAME], Duration::from_mins(2));
    let mut removal = Vec::from(REQUIRED_ABSENCES.map(RemovalStep::RequireNone));
    removal.push(RemovalStep::Managed(NAME.to_owned()));
    Lifecycle {
        deployed: vec![wait.clone().rolled_out()],
        removal,
        removed: vec![wait],
        ..Lifecycle::default()
    }
}

fn labels() -> BTreeMap<String, String> {
    entries([(ROLE, NAME)])
}

/// Labels of objects that have more than one replica.
fn available() -> BTreeMap<String, String> {
    with(labels(), entries([(HA_TYPE, HA_TYPE_CONTROLLER)]))
}

fn rules() -> Vec<Value> {
    let all = ["get", "list", "watch", "create", "update", "patch", "delete"];
    let collections = ["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"];
    let own = ["get", "list", "patch", "update", "watch", "create", "delete"];
    let druid = api::druid::GROUP;
    vec![
        rule(&[""], &["pods"], &["get", "list", "watch", "delete", "deletecollection"]),
        rule(&[""], &["secrets", "endpoints"], &["get", "list", "patch", "update", "watch"]),
        rule(&[""], &["events"], &["create", "get", "list", "watch", "patch", "update"]),
        rule(&[""], &["serviceaccounts"], &all),
        rule(&["rbac.authorization.k8s.io"], &["roles", "rolebindings"], &all),
        rule(&[""], &["services", "configmaps"], &own),
        rule(&["apps"], &["statefulsets"], &own),
        rule(&["batch"], &["jobs"], &all),
        rule(&[druid], &["etcds", "etcdcopybackupstasks"], &all),
        rule(
            &[druid],
            &[
                "etcds/status",
                "etcds/finalizers",
                "etcdcopybackupstasks/status",
                "etcdcopybackupstasks/finalizers",
            ],
            &["get", "update", "patch", "create"],
        ),
        rule(&["coordination.k8s.io"], &["leases"], &collections),
        rule(&[""], &["persistentvolumeclaims"], READ),
        rule(&["policy"], &["poddisruptionbudgets"], &all),
    ]
}

fn metrics_service() -> Value {
    let port = service_port("metrics", METRICS_PORT, METRICS_PORT);
    let mut service = service(NAME, &labels(), &[port]);
    service["metadata"] = metadata(NAME, &available());
    annotate(&mut service, AllowedPods::SeedScrapeTargets.annotation(&[METRICS_PORT]));
    service
}

fn deployment(values: &GardenValues<'_>) -> Result<Value, RenderError> {
    let version = values.runtime_version.to_string();
    let versions = ImageVersions { runtime: Some(&version), target: Some(&version) };
    let container = json!({
        "name": NAME,
        "image": values.images.find(NAME, versions)?.to_string(),
        "imagePullPolicy": "IfNotPresent",
        "command": command::command(values.config.controllers.garden.etcd_config.as_ref()),
        "resources": {
            "requests": {"cpu": "50m", "memory": "128Mi"},
            "limits": {"memory": "512Mi"},
        },
        "ports": [{"containerPort": METRICS_PORT}],
    });
    Ok(json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": metadata(NAME, &available()),
        "spec": {
            "replicas": 1,
            "revisionHistoryLimit": 1,
            "selector": {"matchLabels": labels()},
            "template": {
                "metadata": {"labels": with(labels(), allowed([TO_DNS, TO_RUNTIME_API_SERVER]))},
                "spec": {
                    "priorityClassName": "gardener-garden-system-300",
                    "serviceAccountName": NAME,
                    "containers": [container],
                },
            },
        },
    }))
}

/// The image vector that replaces its own.
fn vector_config_map(text: &str) -> Value {
    let data = BTreeMap::from([(VECTOR_KEY.to_owned(), text.to_owned())]);
    unique::config_map("etcd-druid-imagevector-overwrite", &labels(), &data)
}

/// OPC-043.
fn mount_vector(deployment: &mut Value, config_map: &str) {
    let variable = json!({"name": image_vector::OVERWRITE, "value": format!("{VECTOR_FOLDER}/{VECTOR_KEY}")});
    let mount = json!({"name": VECTOR_VOLUME, "mountPath": VECTOR_FOLDER, "readOnly": true});
    let pod = &mut deployment["spec"]["template"]["spec"];
    push(&mut pod["containers"][0], "env", variable);
    push(&mut pod["containers"][0], "volumeMounts", mount);
    push(pod, "volumes", config_map_volume(VECTOR_VOLUME, config_map));
    references::annotate(deployment);
}
