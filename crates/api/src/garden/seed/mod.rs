//! Seed: a cluster that runs the control planes of shoots.

pub mod settings;

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use serde_json::Value;

use self::settings::SeedSettings;
use super::condition::{Condition, Gardener, LastOperation};
use super::reference::SecretReference;
use super::{Quantity, TemplateMetadata};

kind! {
    /// A cluster that runs the control planes of shoots.
    Seed, "Seed", "SeedList", "seeds", ClusterResourceScope {
        /// The specification.
        spec: SeedSpec,
        /// The status.
        status: SeedStatus,
    }
}

object! {
    /// Template of a Seed.
    SeedTemplate {
        /// Its labels and annotations.
        metadata: TemplateMetadata,
        /// The specification.
        spec: SeedSpec,
    }

    /// The specification of a Seed.
    SeedSpec {
        /// Where backups of etcd are stored; absent for no backups.
        backup: Option<SeedBackup>,
        /// The provider of its DNS records.
        dns: SeedDns,
        /// Its networks, and those of its shoots.
        networks: SeedNetworks,
        /// Where it runs.
        provider: SeedProvider,
        /// The Secret with its kubeconfig.
        secret_ref: Option<SecretReference>,
        /// Taints that a shoot must tolerate to be scheduled here.
        taints: Vec<SeedTaint>,
        /// Settings of volumes.
        volume: Option<SeedVolume>,
        /// Settings of the seed.
        settings: Option<SeedSettings>,
        /// Ingress of components in the seed.
        ingress: Option<Ingress>,
    }

    /// The status of a Seed.
    SeedStatus {
        /// The gardenlet that acted last.
        gardener: Option<Gardener>,
        /// Version of its Kubernetes.
        kubernetes_version: Option<String>,
        /// Its state.
        conditions: Vec<Condition>,
        /// The observed generation.
        observed_generation: Option<i64>,
        /// Its identity, which immutable.
        cluster_identity: Option<String>,
        /// Its capacity: `shoots`.
        capacity: BTreeMap<String, Quantity>,
        /// The part of the capacity that can be used.
        allocatable: BTreeMap<String, Quantity>,
        /// When the gardenlet's certificate expires.
        client_certificate_expiration_timestamp: Option<Time>,
        /// The last operation.
        last_operation: Option<LastOperation>,
    }

    /// Where backups of etcd are stored.
    SeedBackup {
        /// The provider.
        provider: String,
        /// Configuration of the provider's extension.
        provider_config: Option<Value>,
        /// The region; absent for the seed's.
        region: Option<String>,
        /// The Secret with credentials.
        secret_ref: SecretReference,
    }

    /// The provider of its DNS records.
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

    /// Ingress of components in the seed.
    Ingress {
        /// The domain.
        domain: String,
        /// The ingress controller.
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
        /// Default networks of shoots.
        shoot_defaults: Option<ShootNetworks>,
        /// Networks that its shoots must not reach.
        #[serde(rename = "blockCIDRs")]
        block_cidrs: Vec<String>,
        /// `IPv4`, `IPv6`.
        ip_families: Vec<String>,
    }

    /// Default networks of shoots.
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
        /// Configuration of the provider's extension.
        provider_config: Option<Value>,
        /// The region.
        region: String,
        /// The zones.
        zones: Vec<String>,
    }

    /// Taints that a shoot must tolerate to be scheduled here.
    SeedTaint {
        /// `seed.gardener.cloud/protected`.
        key: String,
        /// Its value.
        value: Option<String>,
    }

    /// Settings of volumes.
    SeedVolume {
        /// Minimal size of a volume.
        minimum_size: Option<Quantity>,
        /// Their provisioners.
        providers: Vec<SeedVolumeProvider>,
    }

    /// A provisioner of volumes.
    SeedVolumeProvider {
        /// The purpose: `etcd-main`.
        purpose: String,
        /// Name of the provisioner.
        name: String,
    }
}
