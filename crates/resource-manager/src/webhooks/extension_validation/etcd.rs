//! An etcd cluster of a control plane: `contracts/resource-manager/webhooks/extension-validation/etcd.yaml`.

use serde_json::Value;
use webhook::field::{Error, Path};

use super::comparison::{member, text};
use super::shape::{Field, LABEL_SELECTOR, SECRET_REFERENCE, Shape, TEXT_MAP, field};
use super::{ExtensionKind, Frozen};

pub(super) const KIND: ExtensionKind = ExtensionKind {
    name: "Etcd",
    group: "druid.gardener.cloud",
    resource: "etcds",
    namespaced: true,
    spec: &[
        optional("selector", &LABEL_SELECTOR),
        part("labels", TEXT_MAP),
        part("annotations", TEXT_MAP),
        part("etcd", ETCD),
        part("backup", BACKUP),
        part("sharedConfig", Shape::Any),
        part("schedulingConstraints", Shape::Any),
        part("replicas", Shape::Integer32),
        optional("priorityClassName", &Shape::Text),
        optional("storageClass", &Shape::Text),
        optional("storageCapacity", &Shape::Quantity),
        optional("volumeClaimTemplate", &Shape::Text),
    ],
    immutable: &[&["backup", "store", "prefix"]],
    frozen: Frozen::Immutable,
    rules,
};

const ETCD: Shape = Shape::Struct(&[
    optional("quota", &Shape::Quantity),
    optional("defragmentationSchedule", &Shape::Text),
    optional("serverPort", &Shape::Integer32),
    optional("clientPort", &Shape::Integer32),
    optional("image", &Shape::Text),
    optional("authSecretRef", &SECRET_REFERENCE),
    optional("metrics", &Shape::Text),
    optional("resources", &RESOURCES),
    optional("clientUrlTls", &Shape::Any),
    optional("peerUrlTls", &Shape::Any),
    optional("etcdDefragTimeout", &Shape::Duration),
    optional("heartbeatDuration", &Shape::Duration),
    optional("clientService", &Shape::Any),
]);
const BACKUP: Shape = Shape::Struct(&[
    optional("port", &Shape::Integer32),
    optional("tls", &Shape::Any),
    optional("image", &Shape::Text),
    optional("store", &STORE),
    optional("resources", &RESOURCES),
    optional("compactionResources", &RESOURCES),
    optional("fullSnapshotSchedule", &Shape::Text),
    optional("garbageCollectionPolicy", &Shape::Text),
    optional("garbageCollectionPeriod", &Shape::Duration),
    optional("deltaSnapshotPeriod", &Shape::Duration),
    optional("deltaSnapshotMemoryLimit", &Shape::Quantity),
    optional("deltaSnapshotRetentionPeriod", &Shape::Duration),
    optional("compression", &Shape::Any),
    optional("enableProfiling", &Shape::Truth),
    optional("etcdSnapshotTimeout", &Shape::Duration),
    optional("leaderElection", &LEADER_ELECTION),
]);
const STORE: Shape = Shape::Struct(&[
    optional("container", &Shape::Text),
    part("prefix", Shape::Text),
    optional("provider", &Shape::Text),
    optional("secretRef", &SECRET_REFERENCE),
]);
const LEADER_ELECTION: Shape = Shape::Struct(&[
    optional("reelectionPeriod", &Shape::Duration),
    optional("etcdConnectionTimeout", &Shape::Duration),
]);
const RESOURCES: Shape = Shape::Struct(&[
    part("limits", Shape::Map(&Shape::Quantity)),
    part("requests", Shape::Map(&Shape::Quantity)),
    part("claims", Shape::Any),
]);

/// Providers and their stores in etcd-druid (GRM-EXV-263).
const PROVIDERS: [&str; 16] = [
    "aws",
    "S3",
    "azure",
    "ABS",
    "alicloud",
    "OSS",
    "openstack",
    "Swift",
    "gcp",
    "GCS",
    "dell",
    "ECS",
    "openshift",
    "OCS",
    "Local",
    "local",
];

/// GRM-EXV-260 to -271.
fn rules(object: &Value, errors: &mut Vec<Error>) {
    let metadata = |name| text(member(member(Some(object), "metadata"), name));
    let store = member(member(member(Some(object), "spec"), "backup"), "store");
    if store.is_none() {
        return;
    }
    let at = Path::new("spec").child("backup").child("store");
    let prefix = text(member(store, "prefix"));
    if !prefix.contains(metadata("namespace")) || !prefix.contains(metadata("name")) {
        errors.push(Error::invalid(&at.child("prefix"), prefix, "must contain object name and namespace"));
    }
    let provider = text(member(store, "provider"));
    if !provider.is_empty() && !PROVIDERS.contains(&provider) {
        let detail = format!("unsupported storage provider: {provider}");
        errors.push(Error::invalid(&at.child("provider"), provider, &detail));
    }
}

const fn part(name: &'static str, shape: Shape) -> Field {
    field(name, name, shape)
}

/// Differences show the value itself, not the name of its type.
const fn optional(name: &'static str, shape: &'static Shape) -> Field {
    field(name, name, Shape::Pointer("", shape))
}
