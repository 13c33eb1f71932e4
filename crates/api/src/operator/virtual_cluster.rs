//! The virtual cluster of a Garden.

use std::collections::BTreeMap;

use super::gardener::GardenerConfig;
use super::kube_apiserver::VirtualApiServerConfig;
use crate::garden::reference::LocalObjectReference;
use crate::garden::shoot::autoscaling::HorizontalPodAutoscalerConfig;
use crate::garden::shoot::maintenance::MaintenanceTimeWindow;
use crate::garden::{Duration, Quantity};

object! {
    /// The cluster that serves the garden's API.
    VirtualCluster {
        /// Its control plane as a whole.
        control_plane: Option<VirtualControlPlane>,
        /// Its domains.
        dns: VirtualDns,
        /// Its data.
        etcd: Option<VirtualEtcd>,
        /// Gardener's own control plane.
        gardener: GardenerConfig,
        /// Kubernetes' control plane.
        kubernetes: VirtualKubernetes,
        /// Its maintenance.
        maintenance: VirtualMaintenance,
        /// Its networks.
        networking: VirtualNetworking,
    }

    /// A virtual cluster's control plane.
    VirtualControlPlane {
        /// Present if it is highly available.
        high_availability: Option<VirtualHighAvailability>,
    }

    /// High availability has no settings.
    VirtualHighAvailability {}

    /// Domains of a virtual cluster.
    VirtualDns {
        /// The external domains; the first is immutable.
        domains: Vec<String>,
    }

    /// Etcds of a virtual cluster.
    VirtualEtcd {
        /// That of all objects but events.
        main: Option<MainEtcd>,
        /// That of events.
        events: Option<EventsEtcd>,
    }

    /// The Etcd of all objects but events.
    MainEtcd {
        /// Where its backups are stored.
        backup: Option<EtcdBackup>,
        /// Its volume.
        storage: Option<EtcdStorage>,
    }

    /// The Etcd of events.
    EventsEtcd {
        /// Its volume.
        storage: Option<EtcdStorage>,
    }

    /// The volume of an Etcd.
    EtcdStorage {
        /// Its size; default 10Gi.
        capacity: Option<Quantity>,
        /// Its StorageClass.
        class_name: Option<String>,
    }

    /// Where backups of an Etcd are stored.
    EtcdBackup {
        /// The provider; immutable.
        provider: String,
        /// The bucket; immutable.
        bucket_name: String,
        /// The Secret with credentials, in the namespace of the Garden.
        secret_ref: LocalObjectReference,
    }

    /// Kubernetes in a virtual cluster.
    VirtualKubernetes {
        /// kube-apiserver.
        #[serde(rename = "kubeAPIServer")]
        kube_api_server: Option<VirtualApiServerConfig>,
        /// kube-controller-manager.
        kube_controller_manager: Option<VirtualControllerManagerConfig>,
        /// The version.
        version: String,
    }

    /// kube-controller-manager of a virtual cluster: the fields of a Shoot's, and the last.
    VirtualControllerManagerConfig {
        /// Feature gates.
        feature_gates: BTreeMap<String, bool>,
        /// The horizontal pod autoscaler; refused.
        horizontal_pod_autoscaler: Option<HorizontalPodAutoscalerConfig>,
        /// Size of the prefix of each node's network; refused.
        #[serde(rename = "nodeCIDRMaskSize")]
        node_cidr_mask_size: Option<i32>,
        /// After how long pods of an unreachable node are deleted; refused.
        pod_eviction_timeout: Option<Duration>,
        /// After how long a silent node is marked unhealthy; refused.
        node_monitor_grace_period: Option<Duration>,
        /// The longest lifetime of signed certificates; default 48h.
        certificate_signing_duration: Option<Duration>,
    }

    /// Maintenance of a virtual cluster.
    VirtualMaintenance {
        /// The window.
        time_window: MaintenanceTimeWindow,
    }

    /// Networks of a virtual cluster.
    VirtualNetworking {
        /// Of services, as a CIDR; immutable.
        services: String,
    }
}
