//! Settings of system components: DNS in a shoot.

object! {
    /// Settings of system components.
    SystemComponents {
        /// CoreDNS.
        #[serde(rename = "coreDNS")]
        core_dns: Option<CoreDns>,
        /// Node-local DNS.
        #[serde(rename = "nodeLocalDNS")]
        node_local_dns: Option<NodeLocalDns>,
    }

    /// CoreDNS.
    CoreDns {
        /// Its autoscaling.
        autoscaling: Option<CoreDnsAutoscaling>,
        /// Rewriting of names.
        rewriting: Option<CoreDnsRewriting>,
    }

    /// Autoscaling of CoreDNS.
    CoreDnsAutoscaling {
        /// `horizontal` or `cluster-proportional`.
        mode: String,
    }

    /// Rewriting of names that a search path extended.
    CoreDnsRewriting {
        /// Suffixes of such names.
        common_suffixes: Vec<String>,
    }

    /// Node-local DNS.
    NodeLocalDns {
        /// Whether it is enabled.
        enabled: bool,
        /// Whether it queries CoreDNS over TCP; default true.
        #[serde(rename = "forceTCPToClusterDNS")]
        force_tcp_to_cluster_dns: Option<bool>,
        /// Whether it queries the upstream DNS over TCP; default true.
        #[serde(rename = "forceTCPToUpstreamDNS")]
        force_tcp_to_upstream_dns: Option<bool>,
        /// True disables forwarding to the upstream DNS.
        #[serde(rename = "disableForwardToUpstreamDNS")]
        disable_forward_to_upstream_dns: Option<bool>,
    }
}
