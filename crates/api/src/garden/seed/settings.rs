//! Settings of a seed.

use std::collections::BTreeMap;

use crate::garden::Quantity;
use crate::garden::reference::PodToleration;

object! {
    /// Settings of a seed.
    SeedSettings {
        /// Reserved capacity for future control planes.
        excess_capacity_reservation: Option<SeedSettingExcessCapacityReservation>,
        /// Whether shoots are scheduled here.
        scheduling: Option<SeedSettingScheduling>,
        /// Services of type LoadBalancer.
        load_balancer_services: Option<SeedSettingLoadBalancerServices>,
        /// The vertical pod autoscaler.
        vertical_pod_autoscaler: Option<SeedSettingVerticalPodAutoscaler>,
        /// The dependency watchdog.
        dependency_watchdog: Option<SeedSettingDependencyWatchdog>,
        /// Topology-aware routing.
        topology_aware_routing: Option<SeedSettingTopologyAwareRouting>,
    }

    /// Reserved capacity for future control planes.
    SeedSettingExcessCapacityReservation {
        /// Whether capacity is reserved; default true.
        enabled: Option<bool>,
        /// The reservations.
        configs: Vec<SeedSettingExcessCapacityReservationConfig>,
    }

    /// Reserved capacity on some nodes.
    SeedSettingExcessCapacityReservationConfig {
        /// Amounts by resource.
        resources: BTreeMap<String, Quantity>,
        /// Labels of the nodes.
        node_selector: BTreeMap<String, String>,
        /// Tolerated taints of nodes.
        tolerations: Vec<PodToleration>,
    }

    /// Whether shoots are scheduled here.
    SeedSettingScheduling {
        /// Whether the scheduler considers the seed.
        visible: bool,
    }

    /// Services of type LoadBalancer.
    SeedSettingLoadBalancerServices {
        /// Annotations that each gets.
        annotations: BTreeMap<String, String>,
        /// `Cluster` (default) or `Local`.
        external_traffic_policy: Option<String>,
        /// Settings for single zones.
        zones: Vec<SeedSettingLoadBalancerServicesZones>,
    }

    /// Services of type LoadBalancer of one zone.
    SeedSettingLoadBalancerServicesZones {
        /// The zone.
        name: String,
        /// Annotations that each gets.
        annotations: BTreeMap<String, String>,
        /// `Cluster` (default) or `Local`.
        external_traffic_policy: Option<String>,
    }

    /// The vertical pod autoscaler.
    SeedSettingVerticalPodAutoscaler {
        /// Whether Gardener deploys it.
        enabled: bool,
    }

    /// The dependency watchdog.
    SeedSettingDependencyWatchdog {
        /// The former name of `weeder`.
        endpoint: Option<SeedSettingDependencyWatchdogEndpoint>,
        /// The former name of `prober`.
        probe: Option<SeedSettingDependencyWatchdogProbe>,
        /// Restarts pods that crashed while a dependency was unavailable.
        weeder: Option<SeedSettingDependencyWatchdogWeeder>,
        /// Stops controllers of a shoot whose API server cannot be reached.
        prober: Option<SeedSettingDependencyWatchdogProber>,
    }

    /// The former name of [`SeedSettingDependencyWatchdogWeeder`].
    SeedSettingDependencyWatchdogEndpoint {
        /// Whether it is enabled.
        enabled: bool,
    }

    /// The former name of [`SeedSettingDependencyWatchdogProber`].
    SeedSettingDependencyWatchdogProbe {
        /// Whether it is enabled.
        enabled: bool,
    }

    /// Restarts pods that crashed while a dependency was unavailable.
    SeedSettingDependencyWatchdogWeeder {
        /// Whether it is enabled.
        enabled: bool,
    }

    /// Stops controllers of a shoot whose API server cannot be reached.
    SeedSettingDependencyWatchdogProber {
        /// Whether it is enabled.
        enabled: bool,
    }

    /// Topology-aware routing.
    SeedSettingTopologyAwareRouting {
        /// Whether it is enabled.
        enabled: bool,
    }
}
