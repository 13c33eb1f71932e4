//! What components of a Garden are rendered from.

use std::collections::{BTreeMap, BTreeSet};

use api::operator::Garden;
use api::operator::runtime_cluster::RuntimeSettings;
use formats::version::Version;
use jiff::Timestamp;
use secrets::SecretData;

use super::NAMESPACE;
use super::error::RenderError;
use super::existing::ExistingObjects;
use super::generated::GeneratedSecrets;
use super::image_vector::{ImageVector, ImageVersions};
use crate::config::OperatorConfiguration;

/// The feature gate with which Hvpa objects scale components.
const HVPA: &str = "HVPA";
/// The feature gate with which Pods get a seccomp profile.
const DEFAULT_SECCOMP_PROFILE: &str = "DefaultSeccompProfile";

/// What components of a Garden are rendered from: no component reads anything else.
#[derive(Clone, Copy, Debug)]
pub struct GardenValues<'a> {
    /// The Garden, defaulted.
    pub garden: &'a Garden,
    /// The configuration of the operator.
    pub config: &'a OperatorConfiguration,
    /// The version of the runtime cluster.
    pub runtime_version: &'a Version,
    /// The operator's own version, such as `v1.82.0`: the tag of Gardener's images that have none.
    pub operator_version: &'a str,
    /// The images.
    pub images: &'a ImageVector,
    /// Image vectors for components that deploy others, as text, by the name of the component.
    pub component_images: &'a BTreeMap<String, String>,
    /// What the secrets manager has generated.
    pub secrets: &'a GeneratedSecrets,
    /// Objects that the Garden refers to.
    pub referenced: &'a ReferencedObjects,
    /// What was observed in the runtime cluster.
    pub observed: &'a ObservedState,
}

/// Objects in the namespace `garden` that a Garden refers to, by their names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReferencedObjects {
    /// Data of ConfigMaps.
    pub config_maps: BTreeMap<String, BTreeMap<String, String>>,
    /// Data of Secrets.
    pub secrets: BTreeMap<String, SecretData>,
}

/// What was observed in the namespace `garden` of the runtime cluster when the reconciliation began.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObservedState {
    /// Whether both Deployments gardener-apiserver and gardener-admission-controller exist: then kube-apiserver can ask the
    /// latter what gardenlets may do. Always false while a Garden is deleted.
    pub has_seed_authorizer: bool,
    /// Names of the Deployments of API servers whose replicas all know the new key for etcd.
    pub know_new_encryption_key: BTreeSet<String>,
    /// Cluster IPs of Services, by name.
    pub service_addresses: BTreeMap<String, String>,
    /// Kubeconfigs in existing access Secrets, by name: their users are kept.
    pub kubeconfigs: BTreeMap<String, Vec<u8>>,
    /// The Secret with a certificate for all names of the runtime cluster's ingress domain, if there is one. Never while a Garden is
    /// deleted.
    pub wildcard_certificate: Option<String>,
    /// Dashboards of extensions: key `dashboard_operators` of ConfigMaps with the label
    /// `extensions.gardener.cloud/configuration=monitoring`, by the name of the ConfigMap.
    pub extension_dashboards: BTreeMap<String, String>,
    /// Objects from which something is taken over.
    pub existing: ExistingObjects,
    /// Whether the runtime cluster is one of a developer, in which kube-apiserver has a fixed address.
    pub is_local: bool,
    /// The time, which Etcds get as an annotation: etcd-druid acts on an Etcd when it changes.
    pub time: Option<Timestamp>,
}

impl<'a> GardenValues<'a> {
    /// Whether the virtual cluster is highly available; an empty section counts.
    #[must_use]
    pub fn is_highly_available(&self) -> bool {
        let control_plane = self.garden.spec.virtual_cluster.control_plane.as_ref();
        control_plane.is_some_and(|control_plane| control_plane.high_availability.is_some())
    }

    /// Whether Hvpa objects scale components.
    #[must_use]
    pub fn has_hvpa(&self) -> bool {
        self.config.is_enabled(HVPA)
    }

    /// Whether Pods that say nothing about it get a seccomp profile.
    #[must_use]
    pub fn has_default_seccomp_profile(&self) -> bool {
        self.config.is_enabled(DEFAULT_SECCOMP_PROFILE)
    }

    /// Whether the operator deploys the vertical pod autoscaler. A field that is not set counts as false.
    #[must_use]
    pub fn has_pod_autoscaler(&self) -> bool {
        let autoscaler = self.settings().and_then(|settings| settings.vertical_pod_autoscaler.as_ref());
        autoscaler.and_then(|autoscaler| autoscaler.enabled) == Some(true)
    }

    /// Whether traffic of the runtime cluster stays in its zone.
    #[must_use]
    pub fn has_topology_aware_routing(&self) -> bool {
        let routing = self.settings().and_then(|settings| settings.topology_aware_routing.as_ref());
        routing.is_some_and(|routing| routing.enabled)
    }

    /// Annotations of Services of type LoadBalancer.
    #[must_use]
    pub fn load_balancer_annotations(&self) -> BTreeMap<String, String> {
        let services = self.settings().and_then(|settings| settings.load_balancer_services.as_ref());
        services.map(|services| services.annotations.clone()).unwrap_or_default()
    }

    /// The zones of the runtime cluster.
    #[must_use]
    pub fn zones(&self) -> &'a [String] {
        &self.garden.spec.runtime_cluster.provider.zones
    }

    /// The first domain of the virtual cluster.
    ///
    /// # Errors
    /// If there is none.
    pub fn first_domain(&self) -> Result<&'a str, RenderError> {
        let first = self.garden.spec.virtual_cluster.dns.domains.first();
        first.map(String::as_str).ok_or(RenderError::NoDomain)
    }

    /// The version of the virtual cluster.
    ///
    /// # Errors
    /// If it is none.
    pub fn target_version(&self) -> Result<Version, RenderError> {
        let text = &self.garden.spec.virtual_cluster.kubernetes.version;
        Version::parse(text).map_err(|source| RenderError::Version { text: text.clone(), source })
    }

    /// The phase of the rotation of the key for etcd; empty without one.
    #[must_use]
    pub fn encryption_key_phase(&self) -> &'a str {
        encryption_key_phase(self.garden)
    }

    /// An image that does not depend on a version.
    ///
    /// # Errors
    /// If the image vector has none.
    pub fn image(&self, name: &str) -> Result<String, RenderError> {
        Ok(self.images.find(name, ImageVersions::default())?.to_string())
    }

    /// An image of Gardener itself: without a tag, it has the operator's version. OPC-139.
    ///
    /// # Errors
    /// If the image vector has none.
    pub fn gardener_image(&self, name: &str) -> Result<String, RenderError> {
        let image = self.images.find(name, ImageVersions::default())?;
        Ok(image.or_tag(self.operator_version).to_string())
    }

    /// An image for the version of the runtime cluster, which may be its tag.
    ///
    /// # Errors
    /// If the image vector has none.
    pub fn runtime_image(&self, name: &str) -> Result<String, RenderError> {
        let version = self.runtime_version.to_string();
        let versions = ImageVersions { runtime: None, target: Some(&version) };
        Ok(self.images.find(name, versions)?.to_string())
    }

    /// An image that runs in the runtime cluster and is of the version of the virtual cluster.
    ///
    /// # Errors
    /// If the version is none, or the image vector has no image.
    pub fn target_image(&self, name: &str) -> Result<String, RenderError> {
        let (runtime, target) = (self.runtime_version.to_string(), self.target_version()?.to_string());
        let versions = ImageVersions { runtime: Some(&runtime), target: Some(&target) };
        Ok(self.images.find(name, versions)?.to_string())
    }

    fn settings(&self) -> Option<&'a RuntimeSettings> {
        self.garden.spec.runtime_cluster.settings.as_ref()
    }
}

impl ReferencedObjects {
    /// The kubeconfig in a Secret; `user` says who uses it, such as `audit webhook`.
    ///
    /// # Errors
    /// If there is no Secret, or no kubeconfig in it.
    pub fn kubeconfig(&self, name: &str, user: &'static str) -> Result<&[u8], RenderError> {
        let missing = |reason: String| RenderError::Kubeconfig { user, name: name.to_owned(), reason };
        let secret = self.secrets.get(name).ok_or_else(|| missing(format!("secrets {name:?} not found")))?;
        let kubeconfig = secret.get("kubeconfig");
        if kubeconfig.is_empty() {
            let reason = "the secret's field 'kubeconfig' is either not present or empty";
            return Err(missing(reason.to_owned()));
        }
        Ok(kubeconfig)
    }

    /// The audit policy in a ConfigMap.
    ///
    /// # Errors
    /// If there is no ConfigMap, or no policy in it.
    pub fn audit_policy(&self, name: &str) -> Result<&str, RenderError> {
        let config_map =
            self.config_maps.get(name).ok_or_else(|| RenderError::NoAuditPolicy(name.to_owned()))?;
        let policy = config_map.get("policy").map(String::as_str);
        policy.ok_or_else(|| RenderError::EmptyAuditPolicy(name.to_owned()))
    }
}

/// The phase of the rotation of a Garden's key for etcd; empty without one.
#[must_use]
pub fn encryption_key_phase(garden: &Garden) -> &str {
    let credentials = garden.status.credentials.as_ref();
    let rotation = credentials.and_then(|credentials| credentials.rotation.as_ref());
    let key = rotation.and_then(|rotation| rotation.etcd_encryption_key.as_ref());
    key.map(|key| key.phase.as_str()).unwrap_or_default()
}

/// The address of a Service from outside of its namespace.
#[must_use]
pub fn service_host(service: &str) -> String {
    format!("{service}.{NAMESPACE}.svc.cluster.local")
}
