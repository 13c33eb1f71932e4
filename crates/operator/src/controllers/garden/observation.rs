//! What components are rendered from beside the Garden: objects that it refers to, and what the runtime cluster has.

use std::collections::BTreeMap;

use api::operator::Garden;
use api::{druid, resources};
use controller::reconcile::references::ReferenceKind;
use jiff::Timestamp;
use k8s_openapi::ByteString;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Secret, Service};
use kube::Client;
use kube::api::{Api, PartialObjectMeta};
use secrets::SecretData;

use super::error::StepError;
use super::objects;
use crate::components::etcd::EtcdRole;
use crate::components::existing::ExistingObjects;
use crate::components::networks::VIRTUAL_API_SERVER;
use crate::components::rendering::ObjectName;
use crate::components::{
    NAMESPACE, ObservedState, ReferencedObjects, access, kube_controller_manager, virtual_resource_manager,
};
use crate::controllers::reference;

/// Annotation of the Deployment of an API server: all its replicas know the new key for etcd.
pub(super) const KNOWS_NEW_KEY: &str = "credentials.gardener.cloud/new-encryption-key-populated";
/// Deployments of the API servers that encrypt what they store.
const API_SERVERS: [&str; 2] = [VIRTUAL_API_SERVER, GARDENER_APISERVER];
const GARDENER_APISERVER: &str = "gardener-apiserver";
/// Objects that components take something over from, beside Etcds and their StatefulSets.
const EXISTING: [(&str, &str, &str); 4] = [
    ("apps/v1", "Deployment", VIRTUAL_API_SERVER),
    ("apps/v1", "Deployment", kube_controller_manager::NAME),
    ("v1", "Service", VIRTUAL_API_SERVER),
    (resources::API_VERSION, "ManagedResource", virtual_resource_manager::MANAGED),
];
/// The client that requests tokens for all others.
const RESOURCE_MANAGER: &str = "gardener-resource-manager";
/// The Deployment that decides what gardenlets may do.
const ADMISSION_CONTROLLER: &str = "gardener-admission-controller";
/// Secrets with kubeconfigs whose users are kept.
const KUBECONFIGS: [&str; 2] = ["gardener", "gardener-internal"];

/// Reads the objects that a Garden refers to; absent ones are left out, as only their component knows what that means.
///
/// # Errors
/// If the API server refuses.
pub(super) async fn referenced(client: &Client, garden: &Garden) -> Result<ReferencedObjects, StepError> {
    let (secrets, config_maps) = apis(client);
    let mut found = ReferencedObjects::default();
    for (kind, name) in reference::references(garden) {
        match kind {
            ReferenceKind::Secret => {
                if let Some(secret) = secrets.get_opt(name).await? {
                    found.secrets.insert(name.to_owned(), data_of(secret.data));
                }
            }
            ReferenceKind::ConfigMap => {
                if let Some(config_map) = config_maps.get_opt(name).await? {
                    found.config_maps.insert(name.to_owned(), config_map.data.unwrap_or_default());
                }
            }
        }
    }
    Ok(found)
}

/// Looks at what the runtime cluster has before the flow; `is_local` says whether it is one of a developer.
///
/// # Errors
/// If the API server refuses.
pub(super) async fn observe(
    client: &Client,
    now: Timestamp,
    is_local: bool,
) -> Result<ObservedState, StepError> {
    let deployments: Api<Deployment> = Api::namespaced(client.clone(), NAMESPACE);
    let (secrets, _) = apis(client);
    let mut observed = ObservedState::default();
    for name in KUBECONFIGS {
        if let Some(secret) = secrets.get_opt(name).await? {
            let kubeconfig = data_of(secret.data).get("kubeconfig").to_owned();
            observed.kubeconfigs.insert(name.to_owned(), kubeconfig);
        }
    }
    let mut servers = BTreeMap::new();
    for name in [API_SERVERS[0], API_SERVERS[1], ADMISSION_CONTROLLER] {
        if let Some(deployment) = deployments.get_metadata_opt(name).await? {
            servers.insert(name, deployment);
        }
    }
    let knows = |name: &&str| servers.get(*name).is_some_and(knows_new_key);
    observed.know_new_encryption_key = API_SERVERS.into_iter().filter(knows).map(str::to_owned).collect();
    observed.has_seed_authorizer =
        [GARDENER_APISERVER, ADMISSION_CONTROLLER].iter().all(|name| servers.contains_key(*name));
    if let Some(address) = cluster_ip(client, GARDENER_APISERVER).await? {
        observed.service_addresses.insert(GARDENER_APISERVER.to_owned(), address);
    }
    observed.existing = existing(client).await?;
    observed.is_local = is_local;
    observed.time = Some(now);
    Ok(observed)
}

/// The objects that components take something over from.
async fn existing(client: &Client) -> Result<ExistingObjects, StepError> {
    let mut names: Vec<ObjectName> =
        EXISTING.map(|(version, kind, name)| ObjectName::in_garden(version, kind, name)).into();
    names.push(ObjectName::in_garden("v1", "Secret", &access::secret_name(RESOURCE_MANAGER)));
    let mut found = BTreeMap::new();
    for role in EtcdRole::ALL {
        let name = ObjectName::in_garden(druid::API_VERSION, "Etcd", role.etcd_name());
        let etcd = objects::read(client, &name).await?;
        let stateful_set = etcd.as_ref().and_then(|etcd| etcd["status"]["etcd"]["name"].as_str());
        let stateful_set = stateful_set.filter(|name| !name.is_empty()).unwrap_or_else(|| role.etcd_name());
        names.push(ObjectName::in_garden("apps/v1", "StatefulSet", stateful_set));
        found.extend(etcd.map(|etcd| (name, etcd)));
    }
    for name in names {
        let object = objects::read(client, &name).await?;
        found.extend(object.map(|object| (name, object)));
    }
    Ok(ExistingObjects(found))
}

/// The address of a Service in the namespace `garden`; `None` if there is none yet.
///
/// # Errors
/// If the API server refuses.
pub(super) async fn cluster_ip(client: &Client, service: &str) -> Result<Option<String>, StepError> {
    let services: Api<Service> = Api::namespaced(client.clone(), NAMESPACE);
    let spec = services.get_opt(service).await?.and_then(|service| service.spec);
    let address = spec.and_then(|spec| spec.cluster_ip);
    Ok(address.filter(|address| !address.is_empty() && address != "None"))
}

fn knows_new_key(deployment: &PartialObjectMeta<Deployment>) -> bool {
    let annotations = deployment.metadata.annotations.as_ref();
    annotations.is_some_and(|annotations| annotations.contains_key(KNOWS_NEW_KEY))
}

fn apis(client: &Client) -> (Api<Secret>, Api<ConfigMap>) {
    (Api::namespaced(client.clone(), NAMESPACE), Api::namespaced(client.clone(), NAMESPACE))
}

fn data_of(data: Option<BTreeMap<String, ByteString>>) -> SecretData {
    SecretData(data.unwrap_or_default().into_iter().map(|(key, ByteString(value))| (key, value)).collect())
}
