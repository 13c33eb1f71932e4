//! Settings of what runs on a seed.

use std::collections::BTreeMap;

use crate::garden::Quantity;
use crate::garden::reference::PodToleration;

object! {
    /// Settings of what runs on a seed.
    SeedSettings {
        /// Room for control planes that are yet to come.
        excess_capacity_reservation: Option<SeedSettingExcessCapacityReservation>,
        /// Whether shoots are scheduled here.
        scheduling: Option<SeedSettingScheduling>,
        /// Services of type LoadBalancer.
        load_balancer_services: Option<SeedSettingLoadBalancerServices>,
        /// The vertical pod autoscaler.
        vertical_pod_autoscaler: Option<SeedSettingVerticalPodAutoscaler>,
        /// The dependency watchdog.
        dependency_watchdog: Option<SeedSettingDependencyWatchdog>,
        /// Whether traffic stays in a zone.
        topology_aware_routing: Option<SeedSettingTopologyAwareRouting>,
    }

    /// Room for control planes that are yet to come.
    SeedSettingExcessCapacityReservation {
        /// Whether any is kept; absent for yes.
        enabled: Option<bool>,
        /// How much, and where.
        configs: Vec<SeedSettingExcessCapacityReservationConfig>,
    }

    /// Room on some nodes.
    SeedSettingExcessCapacityReservationConfig {
        /// How much of what.
        resources: BTreeMap<String, Quantity>,
        /// Labels of the nodes.
        node_selector: BTreeMap<String, String>,
        /// Taints of nodes that the room may be on.
        tolerations: Vec<PodToleration>,
    }

    /// Whether shoots are scheduled here.
    SeedSettingScheduling {
        /// Whether the scheduler sees it.
        visible: bool,
    }

    /// Services of type LoadBalancer.
    SeedSettingLoadBalancerServices {
        /// Annotations that each gets.
        annotations: BTreeMap<String, String>,
        /// `Cluster` (default) or `Local`.
        external_traffic_policy: Option<String>,
        /// What is otherwise for a zone of its own.
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
        /// Whether Gardener brings it.
        enabled: bool,
    }

    /// The dependency watchdog.
    SeedSettingDependencyWatchdog {
        /// The former name of `weeder`.
        endpoint: Option<SeedSettingDependencyWatchdogEndpoint>,
        /// The former name of `prober`.
        probe: Option<SeedSettingDependencyWatchdogProbe>,
        /// Restarts what crashed while something it needs was away.
        weeder: Option<SeedSettingDependencyWatchdogWeeder>,
        /// Stops controllers of a shoot whose API server cannot be reached.
        prober: Option<SeedSettingDependencyWatchdogProber>,
    }

    /// The former name of [`SeedSettingDependencyWatchdogWeeder`].
    SeedSettingDependencyWatchdogEndpoint {
        /// Whether it is there.
        enabled: bool,
    }

    /// The former name of [`SeedSettingDependencyWatchdogProber`].
    SeedSettingDependencyWatchdogProbe {
        /// Whether it is there.
        enabled: bool,
    }

    /// Restarts what crashed while something it needs was away.
    SeedSettingDependencyWatchdogWeeder {
        /// Whether it is there.
        enabled: bool,
    }

    /// Stops controllers of a shoot whose API server cannot be reached.
    SeedSettingDependencyWatchdogProber {
        /// Whether it is there.
        enabled: bool,
    }

    /// Whether traffic stays in a zone.
    SeedSettingTopologyAwareRouting {
        /// Whether it does.
        enabled: bool,
    }
}
