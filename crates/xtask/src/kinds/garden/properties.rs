//! The garden's kinds with what Gardener's API server says of them and their types do not.

use anyhow::Result;
use api::garden::{
    BackupBucket, BackupEntry, Bastion, CloudProfile, ClusterOpenIdConnectPreset, ControllerDeployment,
    ControllerInstallation, ControllerRegistration, ExposureClass, InternalSecret, ManagedSeed,
    ManagedSeedSet, OpenIdConnectPreset, Project, Quota, SecretBinding, Seed, Shoot, ShootState,
};
use api::operator::Garden;

use super::{Generated, KindProperties, file};

/// The CRD of each kind, by kind.
pub(super) fn all() -> Result<Vec<Generated>> {
    Ok(vec![
        file::<BackupBucket>(&BACKUP_BUCKET)?,
        file::<BackupEntry>(&BACKUP_ENTRY)?,
        file::<Bastion>(&BASTION)?,
        file::<CloudProfile>(&CLOUD_PROFILE)?,
        file::<ClusterOpenIdConnectPreset>(&CLUSTER_OPEN_ID_CONNECT_PRESET)?,
        file::<ControllerDeployment>(&CONTROLLER_DEPLOYMENT)?,
        file::<ControllerInstallation>(&CONTROLLER_INSTALLATION)?,
        file::<ControllerRegistration>(&CONTROLLER_REGISTRATION)?,
        file::<ExposureClass>(&EXPOSURE_CLASS)?,
        file::<Garden>(&GARDEN)?,
        file::<InternalSecret>(&INTERNAL_SECRET)?,
        file::<ManagedSeed>(&MANAGED_SEED)?,
        file::<ManagedSeedSet>(&MANAGED_SEED_SET)?,
        file::<OpenIdConnectPreset>(&OPEN_ID_CONNECT_PRESET)?,
        file::<Project>(&PROJECT)?,
        file::<Quota>(&QUOTA)?,
        file::<SecretBinding>(&SECRET_BINDING)?,
        file::<Seed>(&SEED)?,
        file::<Shoot>(&SHOOT)?,
        file::<ShootState>(&SHOOT_STATE)?,
    ])
}

const BACKUP_BUCKET: KindProperties = KindProperties {
    scope: "Cluster",
    short_names: &["bbc"],
    selectable: &[".spec.seedName"],
    columns: [
        &[
            ("Provider", ".spec.provider.type"),
            ("Seed", ".spec.seedName"),
            ("Operation", ".status.lastOperation.state"),
            ("Progress", ".status.lastOperation.progress"),
        ],
        &[],
    ],
};

const BACKUP_ENTRY: KindProperties = KindProperties {
    scope: "Namespaced",
    short_names: &["bec"],
    selectable: &[".spec.bucketName", ".spec.seedName"],
    columns: [
        &[
            ("Bucket", ".spec.bucketName"),
            ("Seed", ".spec.seedName"),
            ("Operation", ".status.lastOperation.state"),
            ("Progress", ".status.lastOperation.progress"),
        ],
        &[],
    ],
};

const BASTION: KindProperties = KindProperties {
    scope: "Namespaced",
    short_names: &[],
    selectable: &[".spec.seedName", ".spec.shootRef.name"],
    columns: [
        &[
            ("Shoot", ".spec.shootRef.name"),
            ("Seed", ".spec.seedName"),
            ("IP", ".status.ingress.ip"),
            ("Heartbeat", ".status.lastHeartbeatTimestamp"),
            ("Expires", ".status.expirationTimestamp"),
        ],
        &[("Hostname", ".status.ingress.hostname")],
    ],
};

const CLOUD_PROFILE: KindProperties = KindProperties {
    scope: "Cluster",
    short_names: &["cprofile", "cpfl"],
    selectable: &[],
    columns: [&[("Provider", ".spec.type")], &[]],
};

const CLUSTER_OPEN_ID_CONNECT_PRESET: KindProperties = KindProperties {
    scope: "Cluster",
    short_names: &["coidcps"],
    selectable: &[],
    columns: [&[("Issuer", ".spec.server.issuerURL")], &[]],
};

const CONTROLLER_DEPLOYMENT: KindProperties =
    KindProperties { scope: "Cluster", short_names: &["ctrldeploy"], selectable: &[], columns: [&[], &[]] };

const CONTROLLER_INSTALLATION: KindProperties = KindProperties {
    scope: "Cluster",
    short_names: &["ctrlinst"],
    selectable: &[".spec.registrationRef.name", ".spec.seedRef.name"],
    columns: [
        &[
            ("Registration", ".spec.registrationRef.name"),
            ("Seed", ".spec.seedRef.name"),
            ("Valid", ".status.conditions[?(@.type==\"Valid\")].status"),
            ("Installed", ".status.conditions[?(@.type==\"Installed\")].status"),
            ("Healthy", ".status.conditions[?(@.type==\"Healthy\")].status"),
            ("Progressing", ".status.conditions[?(@.type==\"Progressing\")].status"),
        ],
        &[],
    ],
};

const CONTROLLER_REGISTRATION: KindProperties =
    KindProperties { scope: "Cluster", short_names: &["ctrlreg"], selectable: &[], columns: [&[], &[]] };

const EXPOSURE_CLASS: KindProperties = KindProperties {
    scope: "Cluster",
    short_names: &["expclass", "expcls"],
    selectable: &[],
    columns: [&[("Handler", ".handler")], &[]],
};

const GARDEN: KindProperties = KindProperties {
    scope: "Cluster",
    short_names: &["grdn"],
    selectable: &[],
    columns: [
        &[
            ("K8S Version", ".spec.virtualCluster.kubernetes.version"),
            ("Gardener Version", ".status.gardener.version"),
            ("Last Operation", ".status.lastOperation.state"),
            ("Runtime", ".status.conditions[?(@.type==\"RuntimeComponentsHealthy\")].status"),
            ("Virtual", ".status.conditions[?(@.type==\"VirtualComponentsHealthy\")].status"),
            ("API Server", ".status.conditions[?(@.type==\"VirtualGardenAPIServerAvailable\")].status"),
            ("Observability", ".status.conditions[?(@.type==\"ObservabilityComponentsHealthy\")].status"),
        ],
        &[],
    ],
};

const INTERNAL_SECRET: KindProperties = KindProperties {
    scope: "Namespaced",
    short_names: &["ins"],
    selectable: &[".type"],
    columns: [&[("Type", ".type")], &[]],
};

const MANAGED_SEED: KindProperties = KindProperties {
    scope: "Namespaced",
    short_names: &["ms"],
    selectable: &[".spec.shoot.name"],
    columns: [
        &[
            ("Registered", ".status.conditions[?(@.type==\"SeedRegistered\")].status"),
            ("Shoot", ".spec.shoot.name"),
        ],
        &[],
    ],
};

const MANAGED_SEED_SET: KindProperties = KindProperties {
    scope: "Namespaced",
    short_names: &["mss"],
    selectable: &[],
    columns: [
        &[
            ("Ready", ".status.readyReplicas"),
            ("Replicas", ".spec.replicas"),
            ("Pending", ".status.pendingReplica.name"),
        ],
        &[("Reason", ".status.pendingReplica.reason")],
    ],
};

const OPEN_ID_CONNECT_PRESET: KindProperties = KindProperties {
    scope: "Namespaced",
    short_names: &["oidcps"],
    selectable: &[],
    columns: [&[("Issuer", ".spec.server.issuerURL")], &[]],
};

const PROJECT: KindProperties = KindProperties {
    scope: "Cluster",
    short_names: &[],
    selectable: &[".spec.namespace"],
    columns: [
        &[
            ("Namespace", ".spec.namespace"),
            ("Status", ".status.phase"),
            ("Owner", ".spec.owner.name"),
            ("Creator", ".spec.createdBy.name"),
        ],
        &[],
    ],
};

const QUOTA: KindProperties = KindProperties {
    scope: "Namespaced",
    short_names: &["squota"],
    selectable: &[],
    columns: [&[("Scope", ".spec.scope.kind"), ("Cluster Lifetime", ".spec.clusterLifetimeDays")], &[]],
};

const SECRET_BINDING: KindProperties = KindProperties {
    scope: "Namespaced",
    short_names: &["sb"],
    selectable: &[],
    columns: [&[("Secret", ".secretRef.name"), ("Provider", ".provider.type")], &[]],
};

const SEED: KindProperties = KindProperties {
    scope: "Cluster",
    short_names: &[],
    selectable: &[],
    columns: [
        &[
            ("Status", ".status.conditions[?(@.type==\"GardenletReady\")].status"),
            ("Last Operation", ".status.lastOperation.state"),
            ("Provider", ".spec.provider.type"),
            ("Region", ".spec.provider.region"),
            ("Version", ".status.gardener.version"),
            ("K8S Version", ".status.kubernetesVersion"),
        ],
        &[],
    ],
};

pub(super) const SHOOT: KindProperties = KindProperties {
    scope: "Namespaced",
    short_names: &[],
    selectable: &[".spec.cloudProfileName", ".spec.seedName", ".status.seedName"],
    columns: [
        &[
            ("CloudProfile", ".spec.cloudProfileName"),
            ("Provider", ".spec.provider.type"),
            ("Region", ".spec.region"),
            ("K8S Version", ".spec.kubernetes.version"),
            ("Hibernation", ".status.hibernated"),
            ("Last Operation", ".status.lastOperation.state"),
            ("Status", ".metadata.labels['shoot\\.gardener\\.cloud/status']"),
        ],
        &[
            ("Seed", ".spec.seedName"),
            ("Purpose", ".spec.purpose"),
            ("Gardener Version", ".status.gardener.version"),
            ("APIServer", ".status.conditions[?(@.type==\"APIServerAvailable\")].status"),
            ("Control", ".status.conditions[?(@.type==\"ControlPlaneHealthy\")].status"),
            ("Observability", ".status.conditions[?(@.type==\"ObservabilityComponentsHealthy\")].status"),
            ("Nodes", ".status.conditions[?(@.type==\"EveryNodeReady\")].status"),
            ("System", ".status.conditions[?(@.type==\"SystemComponentsHealthy\")].status"),
        ],
    ],
};

const SHOOT_STATE: KindProperties =
    KindProperties { scope: "Namespaced", short_names: &[], selectable: &[], columns: [&[], &[]] };
