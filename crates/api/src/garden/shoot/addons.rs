//! What is installed in a shoot beyond Kubernetes.

use std::collections::BTreeMap;

object! {
    /// What is installed beyond Kubernetes.
    Addons {
        /// The dashboard.
        kubernetes_dashboard: Option<KubernetesDashboard>,
        /// An ingress controller.
        nginx_ingress: Option<NginxIngress>,
    }

    /// The dashboard.
    KubernetesDashboard {
        /// Whether it is installed.
        enabled: bool,
        /// `token`.
        authentication_mode: Option<String>,
    }

    /// An ingress controller.
    NginxIngress {
        /// Whether it is installed.
        enabled: bool,
        /// Addresses that reach it, as CIDRs.
        load_balancer_source_ranges: Vec<String>,
        /// Its configuration.
        config: BTreeMap<String, String>,
        /// `Cluster` (default) or `Local`.
        external_traffic_policy: Option<String>,
    }
}
