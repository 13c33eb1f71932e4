//! What the operator deploys for a Garden: each component is a pure function from values to objects.
//!
//! A component is a module with `requests`, which says what it needs from the secrets manager, and `render`, which makes its objects
//! from [`GardenValues`]: the Garden, the configuration, versions, images, and what was generated and observed. No component reads a
//! clock, a cluster or the environment, or draws random numbers. [`GardenComponent`] names those that there are. Objects and their
//! fields are those of the original's v1.82.0; the ids OPC-… in documentation number what is kept of it.
//!
//! What all components share:
//!
//! - [`values`] — what they are rendered from; [`generated`] — Secrets of the secrets manager; [`image_vector`] — images;
//! - [`rendering`] — what the result is; [`managed`] — ManagedResources in it; [`error`] — why there is none;
//! - [`lifecycle`] — how a component is awaited and taken down;
//! - [`unique`] — ConfigMaps and Secrets whose names contain a checksum; [`references`] — annotations that name them;
//! - [`api_server`], [`gardener_program`], [`resource_manager_program`] — what several components have in common;
//! - [`access`] — kubeconfig and token for the virtual cluster; [`networks`] — what NetworkPolicies are made from;
//!   [`topology`] — traffic that stays in its zone; [`objects`], [`rbac`] — parts of objects;
//!   [`existing`] — objects that something is taken over from; [`durations`] — durations in flags.
//!
//! The controller [`garden`](crate::controllers::garden) deploys them.

pub mod access;
pub mod api_server;
pub mod durations;
pub mod error;
pub mod etcd;
pub mod etcd_druid;
pub mod existing;
pub mod fluent;
pub mod gardener_access;
pub mod gardener_admission_controller;
pub mod gardener_apiserver;
pub mod gardener_controller_manager;
pub mod gardener_metrics_exporter;
pub mod gardener_program;
pub mod gardener_scheduler;
pub mod generated;
pub mod generic_token_kubeconfig;
pub mod hvpa_controller;
pub mod image_vector;
pub mod istio;
pub mod kube_apiserver;
pub mod kube_apiserver_service;
pub mod kube_apiserver_sni;
pub mod kube_controller_manager;
pub mod kube_state_metrics;
pub mod lifecycle;
pub mod managed;
pub mod networks;
pub mod nginx_ingress;
pub mod objects;
pub mod plutono;
pub mod pod_autoscaler;
pub mod rbac;
pub mod references;
pub mod rendering;
pub mod resource_manager;
pub mod resource_manager_program;
pub mod runtime_system;
pub mod topology;
pub mod unique;
pub mod vali;
pub mod values;
pub mod virtual_resource_manager;
pub mod virtual_system;

#[cfg(test)]
mod control_plane_contract;
#[cfg(test)]
pub(crate) mod fixture;
#[cfg(test)]
mod tests;

use api::operator::Garden;

pub use self::error::RenderError;
pub use self::generated::{GeneratedSecret, GeneratedSecrets, RequestedSecret};
pub use self::lifecycle::Lifecycle;
pub use self::managed::{ManagedObjects, ManagedTarget};
pub use self::rendering::{DirectStep, Rendering};
pub use self::values::{GardenValues, ObservedState, ReferencedObjects};

/// The namespace of all namespaced objects in the runtime cluster, except those of Istio. OPC-001.
pub const NAMESPACE: &str = "garden";

/// A component that the operator deploys, in the order of deployment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum GardenComponent {
    /// The kubeconfig for the virtual cluster that its Pods share.
    GenericTokenKubeconfig,
    /// The resource-manager of the runtime cluster.
    ResourceManager,
    /// nginx-ingress.
    NginxIngress,
    /// Priority classes in the runtime cluster.
    RuntimeSystem,
    /// The vertical pod autoscaler.
    VerticalPodAutoscaler,
    /// The HVPA controller.
    HvpaController,
    /// etcd-druid.
    EtcdDruid,
    /// Istio: istiod, and the gateway of the virtual cluster.
    Istio,
    /// fluent-operator.
    FluentOperator,
    /// fluent-bit: what the programs of a node log goes to Vali.
    FluentBit,
    /// How fluent-bit reads logs of a Garden's components.
    FluentResources,
    /// Vali, which stores logs.
    Vali,
    /// The Service of kube-apiserver of the virtual cluster.
    KubeApiServerService,
    /// How kube-apiserver of the virtual cluster is reached from outside.
    KubeApiServerSni,
    /// Both Etcds of the virtual cluster.
    Etcd,
    /// kube-apiserver of the virtual cluster.
    KubeApiServer,
    /// kube-controller-manager of the virtual cluster.
    KubeControllerManager,
    /// The resource-manager of the virtual cluster.
    VirtualResourceManager,
    /// What the virtual cluster has from the beginning.
    VirtualSystem,
    /// Kubeconfigs for the virtual cluster.
    GardenerAccess,
    /// kube-state-metrics.
    KubeStateMetrics,
    /// gardener-apiserver.
    GardenerApiServer,
    /// gardener-admission-controller.
    GardenerAdmissionController,
    /// gardener-controller-manager.
    GardenerControllerManager,
    /// gardener-scheduler.
    GardenerScheduler,
    /// gardener-metrics-exporter.
    GardenerMetricsExporter,
    /// Plutono, which shows metrics and logs.
    Plutono,
}

impl GardenComponent {
    /// All components.
    pub const ALL: [Self; 27] = [
        Self::GenericTokenKubeconfig,
        Self::ResourceManager,
        Self::NginxIngress,
        Self::RuntimeSystem,
        Self::VerticalPodAutoscaler,
        Self::HvpaController,
        Self::EtcdDruid,
        Self::Istio,
        Self::FluentOperator,
        Self::FluentBit,
        Self::FluentResources,
        Self::Vali,
        Self::KubeApiServerService,
        Self::KubeApiServerSni,
        Self::Etcd,
        Self::KubeApiServer,
        Self::KubeControllerManager,
        Self::VirtualResourceManager,
        Self::VirtualSystem,
        Self::GardenerAccess,
        Self::KubeStateMetrics,
        Self::GardenerApiServer,
        Self::GardenerAdmissionController,
        Self::GardenerControllerManager,
        Self::GardenerScheduler,
        Self::GardenerMetricsExporter,
        Self::Plutono,
    ];

    /// What it needs from the secrets manager before it is rendered. The authorities are generated before.
    ///
    /// # Errors
    /// If an authority was not generated whose certificates are part of a request.
    pub fn requests(
        self,
        garden: &Garden,
        secrets: &GeneratedSecrets,
        observed: &ObservedState,
    ) -> Result<Vec<RequestedSecret>, RenderError> {
        if self == Self::GenericTokenKubeconfig {
            return generic_token_kubeconfig::requests(secrets);
        }
        Ok(self.requests_of_garden(garden, observed))
    }

    /// What it needs whatever the authorities are.
    fn requests_of_garden(self, garden: &Garden, observed: &ObservedState) -> Vec<RequestedSecret> {
        match self {
            Self::ResourceManager => resource_manager::requests(garden),
            Self::VerticalPodAutoscaler => pod_autoscaler::requests(garden),
            Self::Etcd => etcd::requests(garden),
            Self::KubeApiServer => kube_apiserver::requests(garden),
            Self::KubeControllerManager => kube_controller_manager::requests(garden),
            Self::VirtualResourceManager => virtual_resource_manager::requests(garden),
            Self::GardenerApiServer => gardener_apiserver::requests(garden),
            Self::GardenerAdmissionController => gardener_admission_controller::requests(garden),
            Self::Plutono => plutono::requests(garden, observed),
            Self::GenericTokenKubeconfig
            | Self::NginxIngress
            | Self::RuntimeSystem
            | Self::HvpaController
            | Self::EtcdDruid
            | Self::Istio
            | Self::FluentOperator
            | Self::FluentBit
            | Self::FluentResources
            | Self::Vali
            | Self::KubeApiServerService
            | Self::KubeApiServerSni
            | Self::VirtualSystem
            | Self::GardenerAccess
            | Self::KubeStateMetrics
            | Self::GardenerControllerManager
            | Self::GardenerScheduler
            | Self::GardenerMetricsExporter => Vec::new(),
        }
    }

    /// How it is awaited and taken down.
    #[must_use]
    pub fn lifecycle(self) -> Lifecycle {
        match self {
            Self::GenericTokenKubeconfig => generic_token_kubeconfig::lifecycle(),
            Self::ResourceManager => resource_manager::lifecycle(),
            Self::NginxIngress => Lifecycle::of_managed(nginx_ingress::NAME).unawaited(),
            Self::RuntimeSystem => Lifecycle::of_managed(runtime_system::MANAGED).unawaited(),
            Self::VerticalPodAutoscaler => Lifecycle::of_managed(pod_autoscaler::MANAGED).unawaited(),
            Self::HvpaController => Lifecycle::of_managed(hvpa_controller::MANAGED).unawaited(),
            Self::EtcdDruid => etcd_druid::lifecycle(),
            Self::Istio => istio::lifecycle(),
            Self::FluentOperator => Lifecycle::of_managed(fluent::operator::NAME).unawaited(),
            Self::FluentBit => Lifecycle::of_managed(fluent::bit::NAME).unawaited(),
            Self::FluentResources => Lifecycle::of_managed(fluent::garden_resources::MANAGED).unawaited(),
            Self::Vali => vali::lifecycle(),
            Self::KubeApiServerService => kube_apiserver_service::lifecycle(),
            Self::KubeApiServerSni => kube_apiserver_sni::lifecycle(),
            Self::Etcd => etcd::lifecycle(),
            Self::KubeApiServer => kube_apiserver::lifecycle(),
            Self::KubeControllerManager => kube_controller_manager::lifecycle(),
            Self::VirtualResourceManager => virtual_resource_manager::lifecycle(),
            Self::VirtualSystem => Lifecycle::of_managed(virtual_system::MANAGED).unawaited(),
            Self::GardenerAccess => gardener_access::lifecycle(),
            Self::KubeStateMetrics => Lifecycle::of_managed(kube_state_metrics::NAME).unawaited(),
            Self::GardenerApiServer => gardener_apiserver::lifecycle(),
            Self::GardenerAdmissionController => Lifecycle::of_client(gardener_admission_controller::NAME),
            Self::GardenerControllerManager => Lifecycle::of_client(gardener_controller_manager::NAME),
            Self::GardenerScheduler => Lifecycle::of_client(gardener_scheduler::NAME),
            Self::GardenerMetricsExporter => {
                Lifecycle::of_client(gardener_metrics_exporter::NAME).unawaited()
            }
            Self::Plutono => Lifecycle::of_managed(plutono::NAME).unawaited(),
        }
    }

    /// What the operator writes for it.
    ///
    /// # Errors
    /// If something is missing that was to be generated, that the Garden refers to, or in the image vector.
    pub fn render(self, values: &GardenValues<'_>) -> Result<Rendering, RenderError> {
        match self {
            Self::GenericTokenKubeconfig => generic_token_kubeconfig::render(values),
            Self::ResourceManager => resource_manager::render(values),
            Self::NginxIngress => nginx_ingress::render(values),
            Self::RuntimeSystem => Ok(runtime_system::render()),
            Self::VerticalPodAutoscaler => pod_autoscaler::render(values),
            Self::HvpaController => hvpa_controller::render(values),
            Self::EtcdDruid => etcd_druid::render(values),
            Self::Istio => istio::render(values),
            Self::FluentOperator => fluent::operator::render(values),
            Self::FluentBit => fluent::bit::render(values),
            Self::FluentResources => Ok(fluent::garden_resources::render()),
            Self::Vali => vali::render(values),
            Self::KubeApiServerService => Ok(kube_apiserver_service::render(values)),
            Self::KubeApiServerSni => Ok(kube_apiserver_sni::render(values)),
            Self::Etcd => etcd::render(values),
            Self::KubeApiServer => kube_apiserver::render(values),
            Self::KubeControllerManager => kube_controller_manager::render(values),
            Self::VirtualResourceManager => virtual_resource_manager::render(values),
            Self::VirtualSystem => Ok(virtual_system::render(values)),
            Self::GardenerAccess => gardener_access::render(values),
            Self::KubeStateMetrics => kube_state_metrics::render(values),
            Self::GardenerApiServer => gardener_apiserver::render(values),
            Self::GardenerAdmissionController => gardener_admission_controller::render(values),
            Self::GardenerControllerManager => gardener_controller_manager::render(values),
            Self::GardenerScheduler => gardener_scheduler::render(values),
            Self::GardenerMetricsExporter => gardener_metrics_exporter::render(values),
            Self::Plutono => plutono::render(values),
        }
    }
}
