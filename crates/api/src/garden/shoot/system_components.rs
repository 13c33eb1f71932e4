//! Settings of DNS in a shoot.

object! {
    /// Settings of DNS in a shoot.
    SystemComponents {
        /// DNS of the cluster.
        #[serde(rename = "coreDNS")]
        core_dns: Option<CoreDns>,
        /// Caches on nodes.
        #[serde(rename = "nodeLocalDNS")]
        node_local_dns: Option<NodeLocalDns>,
    }

    /// DNS of the cluster.
    CoreDns {
        /// How it grows.
        autoscaling: Option<CoreDnsAutoscaling>,
        /// Which names it mends.
        rewriting: Option<CoreDnsRewriting>,
    }

    /// How DNS of the cluster grows.
    CoreDnsAutoscaling {
        /// `horizontal` or `cluster-proportional`.
        mode: String,
    }

    /// Which names are mended that a search path made wrong.
    CoreDnsRewriting {
        /// What such names end with.
        common_suffixes: Vec<String>,
    }

    /// Caches on nodes.
    NodeLocalDns {
        /// Whether there are any.
        enabled: bool,
        /// Whether they ask the cluster's DNS over TCP; absent for yes.
        #[serde(rename = "forceTCPToClusterDNS")]
        force_tcp_to_cluster_dns: Option<bool>,
        /// Whether they ask the provider's DNS over TCP; absent for yes.
        #[serde(rename = "forceTCPToUpstreamDNS")]
        force_tcp_to_upstream_dns: Option<bool>,
        /// True keeps them from asking the provider's DNS.
        #[serde(rename = "disableForwardToUpstreamDNS")]
        disable_forward_to_upstream_dns: Option<bool>,
    }
}
