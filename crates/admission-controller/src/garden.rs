//! The objects of the garden that decisions need: most are cached, some must be read anew for each request.

use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use api::garden::{
    BackupBucket, BackupEntry, Bastion, ControllerInstallation, ManagedSeed, Project, SecretBinding, Seed,
    Shoot,
};
use controller::{CacheOptions, Cluster, Entropy, Selection, Store, describe_error};
use k8s_openapi::api::certificates::v1::CertificateSigningRequest;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Secret, ServiceAccount};
use kube::Client;
use kube::api::{Api, ListParams};
use serde::de::DeserializeOwned;

use crate::webhooks::internal_domain::{INTERNAL_DOMAIN, ROLE_LABEL};
use crate::webhooks::seed_restriction::GardenObjects;

/// How often handlers receive every object again.
const RESYNC: Duration = Duration::from_hours(10);

/// The garden's caches, and reads past them. Cheap to clone; clones share the caches.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the names are the kinds")]
pub struct GardenCaches {
    /// Its client and its caches, which the caller runs.
    pub cluster: Cluster,
    pub backup_buckets: Store<BackupBucket>,
    pub backup_entries: Store<BackupEntry>,
    pub bastions: Store<Bastion>,
    pub certificate_signing_requests: Store<CertificateSigningRequest>,
    pub controller_installations: Store<ControllerInstallation>,
    pub managed_seeds: Store<ManagedSeed>,
    pub namespaces: Store<Namespace>,
    pub projects: Store<Project>,
    pub secret_bindings: Store<SecretBinding>,
    pub seeds: Store<Seed>,
    pub service_accounts: Store<ServiceAccount>,
    pub shoots: Store<Shoot>,
}

impl GardenCaches {
    /// Caches of the garden behind a client; sends no request before its cluster is run.
    #[must_use]
    pub fn new(client: Client, entropy: Entropy) -> Self {
        let options = CacheOptions { namespaces: Vec::new(), resync: Some(RESYNC) };
        let cluster = Cluster::new("garden", client, options, entropy);
        Self {
            backup_buckets: cluster.store(Selection::all()),
            backup_entries: cluster.store(Selection::all()),
            bastions: cluster.store(Selection::all()),
            certificate_signing_requests: cluster.store(Selection::all()),
            controller_installations: cluster.store(Selection::all()),
            managed_seeds: cluster.store(Selection::all()),
            namespaces: cluster.store(Selection::all()),
            projects: cluster.store(Selection::all()),
            secret_bindings: cluster.store(Selection::all()),
            seeds: cluster.store(Selection::all()),
            service_accounts: cluster.store(Selection::all()),
            shoots: cluster.store(Selection::all()),
            cluster,
        }
    }

    /// The current ConfigMap; `None` if it does not exist.
    ///
    /// # Errors
    /// When the request fails.
    pub async fn config_map(&self, namespace: &str, name: &str) -> Result<Option<ConfigMap>, String> {
        let config_maps: Api<ConfigMap> = Api::namespaced(self.cluster.client(), namespace);
        config_maps.get_opt(name).await.map_err(|error| describe_error(&error))
    }

    /// Whether a namespace has a Secret that is an internal domain.
    ///
    /// # Errors
    /// When the request fails.
    pub async fn has_internal_domain(&self, namespace: &str) -> Result<bool, String> {
        let secrets: Api<Secret> = Api::namespaced(self.cluster.client(), namespace);
        exists(&secrets, ListParams::default().labels(&format!("{ROLE_LABEL}={INTERNAL_DOMAIN}"))).await
    }

    /// Whether there is a Shoot that shall be on this seed; `None`: on any.
    ///
    /// # Errors
    /// When the request fails.
    pub async fn has_shoots_on(&self, seed: Option<&str>) -> Result<bool, String> {
        let shoots: Api<Shoot> = Api::all(self.cluster.client());
        let selection = match seed {
            Some(seed) => ListParams::default().fields(&format!("spec.seedName={seed}")),
            None => ListParams::default(),
        };
        exists(&shoots, selection).await
    }

    /// Whether there is a Shoot in a namespace.
    ///
    /// # Errors
    /// When the request fails.
    pub async fn has_shoots_in(&self, namespace: &str) -> Result<bool, String> {
        let shoots: Api<Shoot> = Api::namespaced(self.cluster.client(), namespace);
        exists(&shoots, ListParams::default()).await
    }
}

/// Whether an object exists; reads only its metadata.
async fn exists<K: Clone + DeserializeOwned + Debug>(
    of: &Api<K>,
    selection: ListParams,
) -> Result<bool, String> {
    let listed = of.list_metadata(&selection.limit(1)).await;
    listed.map(|list| !list.items.is_empty()).map_err(|error| describe_error(&error))
}

impl GardenObjects for GardenCaches {
    fn backup_bucket(&self, name: &str) -> Option<Arc<BackupBucket>> {
        self.backup_buckets.get("", name)
    }

    fn backup_entry(&self, namespace: &str, name: &str) -> Option<Arc<BackupEntry>> {
        self.backup_entries.get(namespace, name)
    }

    fn managed_seed(&self, namespace: &str, name: &str) -> Option<Arc<ManagedSeed>> {
        self.managed_seeds.get(namespace, name)
    }

    fn managed_seeds(&self) -> Vec<Arc<ManagedSeed>> {
        self.managed_seeds.list()
    }

    fn seed(&self, name: &str) -> Option<Arc<Seed>> {
        self.seeds.get("", name)
    }

    fn shoot(&self, namespace: &str, name: &str) -> Option<Arc<Shoot>> {
        self.shoots.get(namespace, name)
    }
}
