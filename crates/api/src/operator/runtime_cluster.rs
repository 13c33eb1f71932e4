//! The runtime cluster of a Garden.

use std::collections::BTreeMap;

use crate::garden::seed::Ingress;

object! {
    /// The cluster that a Garden runs in.
    RuntimeCluster {
        /// Ingress of components in this cluster.
        ingress: Ingress,
        /// Its networks.
        networking: RuntimeNetworking,
        /// Where it runs.
        provider: RuntimeProvider,
        /// Settings of this cluster.
        settings: Option<RuntimeSettings>,
    }

    /// Networks of a runtime cluster, as CIDRs; immutable except the last.
    RuntimeNetworking {
        /// Of nodes.
        nodes: Option<String>,
        /// Of pods.
        pods: String,
        /// Of services.
        services: String,
        /// Networks that components must not reach.
        #[serde(rename = "blockCIDRs")]
        block_cidrs: Vec<String>,
    }

    /// Where a runtime cluster runs.
    RuntimeProvider {
        /// The zones.
        zones: Vec<String>,
    }

    /// Settings of a runtime cluster.
    RuntimeSettings {
        /// Services of type LoadBalancer.
        load_balancer_services: Option<LoadBalancerServices>,
        /// The vertical pod autoscaler.
        vertical_pod_autoscaler: Option<VerticalPodAutoscaler>,
        /// Whether traffic stays in its zone.
        topology_aware_routing: Option<TopologyAwareRouting>,
    }

    /// Services of type LoadBalancer.
    LoadBalancerServices {
        /// Their annotations.
        annotations: BTreeMap<String, String>,
    }

    /// The vertical pod autoscaler.
    VerticalPodAutoscaler {
        /// Whether the operator deploys it; default true.
        enabled: Option<bool>,
    }

    /// Whether traffic stays in its zone.
    TopologyAwareRouting {
        /// Whether it is enabled.
        enabled: bool,
    }
}
