//! What components are rendered from beside the Garden: objects that it refers to, and what the runtime cluster has.

use std::collections::BTreeMap;

use api::gardener::ROLE;
use api::operator::Garden;
use api::{druid, resources};
use controller::reconcile::references::ReferenceKind;
use jiff::Timestamp;
use k8s_openapi::ByteString;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Secret, Service};
use kube::api::{Api, ListParams, PartialObjectMeta};
use kube::{Client, ResourceExt as _};
use secrets::SecretData;

use super::error::StepError;
use super::objects;
use crate::components::etcd::EtcdRole;
use crate::components::existing::ExistingObjects;
use crate::components::networks::VIRTUAL_API_SERVER;
use crate::components::rendering::ObjectName;
use crate::components::{
    NAMESPACE, ObservedState, ReferencedObjects, access, gardener_admission_controller, gardener_apiserver,
    kube_controller_manager, resource_manager, virtual_resource_manager,
};
use crate::controllers::reference;

/// Annotation of the Deployment of an API server: all its replicas know the new key for etcd.
pub(super) const KNOWS_NEW_KEY: &str = "credentials.gardener.cloud/new-encryption-key-populated";
/// Deployments of the API servers that encrypt what they store.
const API_SERVERS: [&str; 2] = [VIRTUAL_API_SERVER, GARDENER_APISERVER];
const GARDENER_APISERVER: &str = gardener_apiserver::NAME;
/// Objects that components take something over from, beside Etcds and their StatefulSets.
const EXISTING: [(&str, &str, &str); 6] = [
    ("apps/v1", "Deployment", VIRTUAL_API_SERVER),
    ("apps/v1", "Deployment", kube_controller_manager::NAME),
    ("apps/v1", "Deployment", resource_manager::NAME),
    ("v1", "Service", VIRTUAL_API_SERVER),
    ("v1", "Service", resource_manager::NAME),
    (resources::API_VERSION, "ManagedResource", virtual_resource_manager::MANAGED),
];
/// The client that requests tokens for all others.
const RESOURCE_MANAGER: &str = "gardener-resource-manager";
/// The Deployment that decides what gardenlets may do.
const ADMISSION_CONTROLLER: &str = gardener_admission_controller::NAME;
/// Secrets with kubeconfigs whose users are kept.
const KUBECONFIGS: [&str; 2] = ["gardener", "gardener-internal"];
/// Value of the label [`ROLE`] of a Secret with a certificate for all hosts.
const WILDCARD_CERTIFICATE: &str = "controlplane-cert";
/// Label of ConfigMaps with dashboards of extensions.
const EXTENSION_DASHBOARDS: &str = "extensions.gardener.cloud/configuration=monitoring";
/// The key of those that operators see.
const OPERATOR_DASHBOARDS: &str = "dashboard_operators";

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
/// If the API server refuses, or one of several certificates for all hosts would have to be chosen.
pub(super) async fn observe(
    client: &Client,
    now: Timestamp,
    is_local: bool,
) -> Result<ObservedState, StepError> {
    let deployments: Api<Deployment> = Api::namespaced(client.clone(), NAMESPACE);
    let (secrets, config_maps) = apis(client);
    let mut observed = ObservedState {
        wildcard_certificate: wildcard_certificate(&secrets).await?,
        ..ObservedState::default()
    };
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
    observed.extension_dashboards = extension_dashboards(&config_maps).await?;
    observed.existing = existing(client).await?;
    observed.is_local = is_local;
    observed.time = Some(now);
    Ok(observed)
}

/// The name of the Secret with a certificate for all hosts; `None` without one.
async fn wildcard_certificate(secrets: &Api<Secret>) -> Result<Option<String>, StepError> {
    let selector = format!("{ROLE}={WILDCARD_CERTIFICATE}");
    let mut found = secrets.list_metadata(&ListParams::default().labels(&selector)).await?.items;
    if found.len() > 1 {
        let text = format!(
            "misconfigured cluster: not possible to provide more than one secret with annotation {WILDCARD_CERTIFICATE}"
        );
        return Err(StepError::State(text));
    }
    Ok(found.pop().map(|secret| secret.name_any()))
}

/// Dashboards of extensions for operators, by the name of the ConfigMap.
async fn extension_dashboards(config_maps: &Api<ConfigMap>) -> Result<BTreeMap<String, String>, StepError> {
    let found = config_maps.list(&ListParams::default().labels(EXTENSION_DASHBOARDS)).await?;
    let texts = found.items.into_iter().filter_map(|config_map| {
        let text = config_map.data?.remove(OPERATOR_DASHBOARDS)?;
        Some((config_map.metadata.name?, text))
    });
    Ok(texts.collect())
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
