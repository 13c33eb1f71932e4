//! Seed: a cluster that runs the control planes of shoots.

pub mod settings;

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, Time};
use serde_json::Value;

use self::settings::SeedSettings;
use super::Quantity;
use super::condition::{Condition, Gardener, LastOperation};
use super::reference::SecretReference;

kind! {
    /// A cluster that runs the control planes of shoots.
    Seed, "Seed", "SeedList", "seeds", ClusterResourceScope {
        /// What it is to be.
        spec: SeedSpec,
        /// What has become of it.
        status: SeedStatus,
    }
}

object! {
    /// A Seed that is to be made.
    SeedTemplate {
        /// Its labels and annotations.
        metadata: ObjectMeta,
        /// What it is to be.
        spec: SeedSpec,
    }

    /// What a seed is to be.
    SeedSpec {
        /// Where backups of etcd go; absent for no backups.
        backup: Option<SeedBackup>,
        /// Who serves its DNS records.
        dns: SeedDns,
        /// Its networks, and those of its shoots.
        networks: SeedNetworks,
        /// Where it runs.
        provider: SeedProvider,
        /// The Secret with its kubeconfig.
        secret_ref: Option<SecretReference>,
        /// What a shoot must accept to be scheduled here.
        taints: Vec<SeedTaint>,
        /// How volumes are made.
        volume: Option<SeedVolume>,
        /// Settings of what runs on it.
        settings: Option<SeedSettings>,
        /// How what runs on it is reached.
        ingress: Option<Ingress>,
    }

    /// What has become of a seed.
    SeedStatus {
        /// The gardenlet that acted last.
        gardener: Option<Gardener>,
        /// Version of its Kubernetes.
        kubernetes_version: Option<String>,
        /// Its state.
        conditions: Vec<Condition>,
        /// The generation that was handled last.
        observed_generation: Option<i64>,
        /// Its identity, which never changes.
        cluster_identity: Option<String>,
        /// How much it could hold: `shoots`.
        capacity: BTreeMap<String, Quantity>,
        /// How much of that may be used.
        allocatable: BTreeMap<String, Quantity>,
        /// When the gardenlet's certificate expires.
        client_certificate_expiration_timestamp: Option<Time>,
        /// What was done with it last.
        last_operation: Option<LastOperation>,
    }

    /// Where backups of etcd go.
    SeedBackup {
        /// The provider.
        provider: String,
        /// What only the provider's extension knows.
        provider_config: Option<Value>,
        /// The region; absent for the seed's.
        region: Option<String>,
        /// The Secret with credentials.
        secret_ref: SecretReference,
    }

    /// Who serves its DNS records.
    SeedDns {
        /// The provider.
        provider: Option<SeedDnsProvider>,
    }

    /// A provider of DNS.
    SeedDnsProvider {
        /// Its type.
        #[serde(rename = "type")]
        type_: String,
        /// The Secret with credentials.
        secret_ref: SecretReference,
    }

    /// How what runs on it is reached.
    Ingress {
        /// The domain below which it is.
        domain: String,
        /// Who does it.
        controller: IngressController,
    }

    /// An ingress controller.
    IngressController {
        /// `nginx`.
        kind: String,
        /// Its configuration.
        provider_config: Option<Value>,
    }

    /// Networks, as CIDRs.
    SeedNetworks {
        /// Of nodes.
        nodes: Option<String>,
        /// Of pods.
        pods: String,
        /// Of services.
        services: String,
        /// What its shoots get that name none.
        shoot_defaults: Option<ShootNetworks>,
        /// What its shoots must not reach.
        #[serde(rename = "blockCIDRs")]
        block_cidrs: Vec<String>,
        /// `IPv4`, `IPv6`.
        ip_families: Vec<String>,
    }

    /// Networks of shoots that name none.
    ShootNetworks {
        /// Of pods.
        pods: Option<String>,
        /// Of services.
        services: Option<String>,
    }

    /// Where a seed runs.
    SeedProvider {
        /// Type of the provider.
        #[serde(rename = "type")]
        type_: String,
        /// What only the provider's extension knows.
        provider_config: Option<Value>,
        /// The region.
        region: String,
        /// The zones.
        zones: Vec<String>,
    }

    /// What a shoot must accept to be scheduled here.
    SeedTaint {
        /// `seed.gardener.cloud/protected`.
        key: String,
        /// Its value.
        value: Option<String>,
    }

    /// How volumes are made.
    SeedVolume {
        /// How much a volume is at least.
        minimum_size: Option<Quantity>,
        /// Who makes them.
        providers: Vec<SeedVolumeProvider>,
    }

    /// Who makes volumes.
    SeedVolumeProvider {
        /// What for: `etcd-main`.
        purpose: String,
        /// Name of the provisioner.
        name: String,
    }
}
