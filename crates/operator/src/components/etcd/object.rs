//! The object Etcd.

use std::collections::BTreeMap;

use api::gardener::{OPERATION, OPERATION_RECONCILE, ROLE, ROLE_CONTROL_PLANE};
use api::networking::{
    NAMESPACE_SELECTORS, POD_LABEL_SELECTOR_NAMESPACE_ALIAS, TO_DNS, TO_PRIVATE_NETWORKS, TO_PUBLIC_NETWORKS,
    TO_RUNTIME_API_SERVER,
};
use api::operator::virtual_cluster::{EtcdBackup, EtcdStorage};
use formats::quantity::Quantity;
use serde_json::{Map, Value, json};

use super::{CA_ETCD_PEER, EtcdRole, schedule};
use crate::components::NAMESPACE;
use crate::components::error::RenderError;
use crate::components::existing::remove_stale;
use crate::components::generated::{CA_ETCD, ETCD_CLIENT};
use crate::components::networks::{AllowedPods, allowed, to_service};
use crate::components::objects::{entries, with};
use crate::components::topology;
use crate::components::values::GardenValues;

/// Annotation with the time of the last change.
const TIMESTAMP: &str = "gardener.cloud/timestamp";
const PRIORITY_CLASS: &str = "gardener-garden-system-500";
const CLIENT_PORT: u16 = 2379;
const PEER_PORT: u16 = 2380;
const BACKUP_PORT: u16 = 8080;
/// Namespaces whose Pods may read metrics.
const SCRAPING_NAMESPACES: &str = r#"[{"matchLabels":{"kubernetes.io/metadata.name":"garden"}}]"#;
/// The end of the prefix of backups: the Etcd and its role.
const BACKUP_PREFIX: &str = "virtual-garden-etcd-main/etcd-main";

/// Fields that a Garden may have and lose again.
const OPTIONAL: [&str; 9] = [
    "/spec/storageClass",
    "/spec/backup/store",
    "/spec/backup/fullSnapshotSchedule",
    "/spec/backup/deltaSnapshotPeriod",
    "/spec/backup/deltaSnapshotMemoryLimit",
    "/spec/backup/leaderElection",
    "/spec/etcd/clientService/labels",
    "/spec/etcd/clientService/annotations/service.kubernetes.io~1topology-mode",
    "/spec/etcd/clientService/annotations/service.kubernetes.io~1topology-aware-hints",
];

/// How the two Etcds differ.
struct EtcdTraits {
    metrics: &'static str,
    defragmented: &'static str,
    default_capacity: &'static str,
    claim: &'static str,
}

impl EtcdTraits {
    /// OPC-057 to -059.
    fn of(role: EtcdRole) -> Self {
        match role {
            EtcdRole::Main => Self {
                metrics: "extensive",
                defragmented: schedule::DAILY,
                default_capacity: "25Gi",
                claim: "main-virtual-garden-etcd",
            },
            EtcdRole::Events => Self {
                metrics: "basic",
                defragmented: schedule::EVERY_THIRD_DAY,
                default_capacity: "10Gi",
                claim: "virtual-garden-etcd-events",
            },
        }
    }
}

/// The Etcd that exists.
pub(super) fn existing<'a>(values: &GardenValues<'a>, role: EtcdRole) -> Option<&'a Value> {
    values.observed.existing.get(api::druid::API_VERSION, "Etcd", role.etcd_name())
}

/// Labels by which its Pods are selected.
pub(super) fn labels(role: EtcdRole) -> BTreeMap<String, String> {
    entries([(ROLE, ROLE_CONTROL_PLANE), ("role", role.label()), ("app", "etcd-statefulset")])
}

/// How many members it has. OPC-055.
pub(super) fn replicas(values: &GardenValues<'_>) -> u32 {
    if values.is_highly_available() { 3 } else { 1 }
}

/// What makes etcd-druid act on it; it removes the operation when it has begun. OPC-064.
pub(super) fn annotations(values: &GardenValues<'_>) -> BTreeMap<String, String> {
    let time = values.observed.time.map(|time| (TIMESTAMP.to_owned(), time.to_string()));
    entries([(OPERATION, OPERATION_RECONCILE)]).into_iter().chain(time).collect()
}

/// The whole object. What an existing one has and this one does not is removed, as the original replaces sections whole. OPC-142.
pub(super) fn etcd(values: &GardenValues<'_>, role: EtcdRole) -> Result<Value, RenderError> {
    let traits = EtcdTraits::of(role);
    let storage = storage(values, role);
    let capacity = storage.and_then(|storage| storage.capacity.as_ref());
    let capacity = capacity.map_or(traits.default_capacity, |capacity| capacity.0.as_str());
    let mut spec = json!({
        "replicas": replicas(values),
        "priorityClassName": PRIORITY_CLASS,
        "labels": pod_labels(values, role),
        "selector": { "matchLabels": labels(role) },
        "etcd": server(values, role, &traits)?,
        "backup": backup(values, role)?,
        "storageCapacity": canonical(capacity),
        "volumeClaimTemplate": traits.claim,
    });
    if role == EtcdRole::Main {
        spec["annotations"] = json!({ "cluster-autoscaler.kubernetes.io/safe-to-evict": "false" });
    }
    if let Some(class) = storage.and_then(|storage| storage.class_name.as_ref()) {
        spec["storageClass"] = class.as_str().into();
    }
    let mut etcd = json!({
        "apiVersion": api::druid::API_VERSION,
        "kind": "Etcd",
        "metadata": {
            "name": role.etcd_name(),
            "namespace": NAMESPACE,
            "labels": { "role": role.label(), ROLE: ROLE_CONTROL_PLANE },
            "annotations": annotations(values),
        },
        "spec": spec,
    });
    remove_stale(&mut etcd, existing(values, role), &OPTIONAL);
    Ok(etcd)
}

fn storage<'a>(values: &GardenValues<'a>, role: EtcdRole) -> Option<&'a EtcdStorage> {
    let etcd = values.garden.spec.virtual_cluster.etcd.as_ref()?;
    match role {
        EtcdRole::Main => etcd.main.as_ref()?.storage.as_ref(),
        EtcdRole::Events => etcd.events.as_ref()?.storage.as_ref(),
    }
}

/// A quantity in its canonical form; one that cannot be read, which admission refuses, stays as it is.
fn canonical(quantity: &str) -> String {
    Quantity::parse(quantity).map_or_else(|_| quantity.to_owned(), |quantity| quantity.to_string())
}

/// Members of a cluster may connect to each other. OPC-056.
fn pod_labels(values: &GardenValues<'_>, role: EtcdRole) -> BTreeMap<String, String> {
    let networks = allowed([TO_DNS, TO_PUBLIC_NETWORKS, TO_PRIVATE_NETWORKS, TO_RUNTIME_API_SERVER]);
    let labels = with(labels(role), networks);
    if !values.is_highly_available() {
        return labels;
    }
    let service = format!("{}-client", role.etcd_name());
    with(labels, allowed([CLIENT_PORT, BACKUP_PORT, PEER_PORT].map(|port| to_service(&service, port))))
}

/// `spec.etcd`. OPC-056, OPC-059, OPC-062.
fn server(values: &GardenValues<'_>, role: EtcdRole, traits: &EtcdTraits) -> Result<Value, RenderError> {
    let kept =
        existing(values, role).and_then(|etcd| etcd["spec"]["etcd"]["defragmentationSchedule"].as_str());
    let defragmentation = match kept {
        Some(kept) => kept.to_owned(),
        None => schedule::defragmentation(values.garden, traits.defragmented)?,
    };
    let mut etcd = json!({
        "metrics": traits.metrics,
        "defragmentationSchedule": defragmentation,
        "resources": requests(values, role, "etcd", json!({ "cpu": "300m", "memory": "1G" })),
        "clientPort": CLIENT_PORT,
        "serverPort": PEER_PORT,
        "quota": "8Gi",
        "clientUrlTls": client_tls(values, role)?,
        "clientService": client_service(values),
    });
    if values.is_highly_available() {
        etcd["peerUrlTls"] = json!({
            "tlsCASecretRef": authority(values.secrets.name(CA_ETCD_PEER)?),
            "serverTLSSecretRef": reference(values.secrets.name(&role.peer_request())?),
            "clientTLSSecretRef": {},
        });
    }
    Ok(etcd)
}

fn client_tls(values: &GardenValues<'_>, role: EtcdRole) -> Result<Value, RenderError> {
    Ok(json!({
        "tlsCASecretRef": authority(values.secrets.name(CA_ETCD)?),
        "serverTLSSecretRef": reference(values.secrets.name(&role.server_request())?),
        "clientTLSSecretRef": reference(values.secrets.name(ETCD_CLIENT)?),
    }))
}

fn reference(name: &str) -> Value {
    json!({ "name": name, "namespace": NAMESPACE })
}

fn authority(name: &str) -> Value {
    json!({ "name": name, "namespace": NAMESPACE, "dataKey": "bundle.crt" })
}

/// Labels and annotations of the Service that etcd-druid makes for clients. OPC-019.
fn client_service(values: &GardenValues<'_>) -> Value {
    let alias = (POD_LABEL_SELECTOR_NAMESPACE_ALIAS.to_owned(), "all-shoots".to_owned());
    let selectors = (NAMESPACE_SELECTORS.to_owned(), SCRAPING_NAMESPACES.to_owned());
    let scraped = AllowedPods::ScrapeTargets.annotation(&[CLIENT_PORT, BACKUP_PORT]);
    let annotations = BTreeMap::from([scraped, selectors, alias]);
    let mut service = json!({ "metadata": { "annotations": annotations } });
    topology::set_routing(&mut service, values);
    service["metadata"].take()
}

/// Requests of a container: where an Hvpa changes them those of the StatefulSet, else these.
fn requests(values: &GardenValues<'_>, role: EtcdRole, container: &str, default: Value) -> Value {
    let existing = values.observed.existing.requests("StatefulSet", stateful_set(values, role), container);
    let kept = existing.filter(|_| values.has_hvpa()).cloned();
    json!({ "requests": kept.unwrap_or(default) })
}

/// The name of its StatefulSet.
pub(super) fn stateful_set<'a>(values: &GardenValues<'a>, role: EtcdRole) -> &'a str {
    let observed = existing(values, role).and_then(|etcd| etcd["status"]["etcd"]["name"].as_str());
    observed.filter(|name| !name.is_empty()).unwrap_or_else(|| role.etcd_name())
}

/// `spec.backup`. OPC-060.
fn backup(values: &GardenValues<'_>, role: EtcdRole) -> Result<Value, RenderError> {
    let mut backup = json!({
        "port": BACKUP_PORT,
        "tls": client_tls(values, role)?,
        "resources": requests(values, role, "backup-restore", json!({ "cpu": "23m", "memory": "128Mi" })),
        "garbageCollectionPolicy": "Exponential",
        "garbageCollectionPeriod": "12h0m0s",
        "compression": { "enabled": true, "policy": "gzip" },
    });
    let main = values.garden.spec.virtual_cluster.etcd.as_ref().and_then(|etcd| etcd.main.as_ref());
    let stored = main.and_then(|main| main.backup.as_ref()).filter(|_| role == EtcdRole::Main);
    if let Some(stored) = stored {
        let kept =
            existing(values, role).and_then(|etcd| etcd["spec"]["backup"]["fullSnapshotSchedule"].as_str());
        let full = match kept {
            Some(kept) => kept.to_owned(),
            None => schedule::full_snapshot(values.garden)?,
        };
        backup["store"] = store(stored);
        backup["fullSnapshotSchedule"] = full.into();
        backup["deltaSnapshotPeriod"] = "5m0s".into();
        backup["deltaSnapshotMemoryLimit"] = "100Mi".into();
        if let Some(election) = leader_election(values) {
            backup["leaderElection"] = election;
        }
    }
    Ok(backup)
}

/// The bucket may be followed by a slash and a folder. OPC-061.
fn store(backup: &EtcdBackup) -> Value {
    let (container, folder) = match backup.bucket_name.split_once('/') {
        Some((container, folder)) => (container, format!("{}/", folder.strip_suffix('/').unwrap_or(folder))),
        None => (backup.bucket_name.as_str(), String::new()),
    };
    json!({
        "secretRef": { "name": backup.secret_ref.name },
        "provider": backup.provider,
        "container": container,
        "prefix": format!("{folder}{BACKUP_PREFIX}"),
    })
}

/// From the configuration of the operator.
fn leader_election(values: &GardenValues<'_>) -> Option<Value> {
    let config = values.config.controllers.garden.etcd_config.as_ref()?;
    let election = config.backup_leader_election.as_ref()?;
    let durations = [
        ("reelectionPeriod", election.reelection_period),
        ("etcdConnectionTimeout", election.etcd_connection_timeout),
    ];
    let given = durations
        .into_iter()
        .filter_map(|(field, duration)| Some((field.to_owned(), Value::from(duration?.to_string()))));
    Some(Value::Object(given.collect::<Map<String, Value>>()))
}
