//! Addons of a shoot.

use std::collections::BTreeMap;

object! {
    /// Addons.
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
        /// Allowed source addresses, as CIDRs.
        load_balancer_source_ranges: Vec<String>,
        /// Its configuration.
        config: BTreeMap<String, String>,
        /// `Cluster` (default) or `Local`.
        external_traffic_policy: Option<String>,
    }
}
