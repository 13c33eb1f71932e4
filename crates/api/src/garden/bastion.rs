//! Bastion: a host through which operators reach a shoot's nodes, `operations.gardener.cloud/v1alpha1`.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

use super::condition::Condition;
use super::reference::LocalObjectReference;

kind! {
    /// A host through which operators reach a shoot's nodes.
    Bastion, "Bastion", "BastionList", "bastions", NamespaceResourceScope of garden::operations {
        /// The specification.
        spec: BastionSpec,
        /// The status.
        status: BastionStatus,
    }
}

object! {
    /// The specification.
    BastionSpec {
        /// The Shoot; immutable.
        shoot_ref: LocalObjectReference,
        /// The Shoot's seed; set by admission.
        seed_name: Option<String>,
        /// The Shoot's provider; set by admission.
        provider_type: Option<String>,
        /// The user's public key.
        ssh_public_key: String,
        /// Addresses that may connect.
        ingress: Vec<BastionIngressPolicy>,
    }

    /// Addresses that may connect.
    BastionIngressPolicy {
        /// The addresses.
        ip_block: IpBlock,
    }

    /// A range of addresses.
    IpBlock {
        /// The range, as a CIDR.
        cidr: String,
        /// Ranges inside of it that are excluded, as CIDRs.
        except: Vec<String>,
    }

    /// The status.
    BastionStatus {
        /// Address of the host.
        ingress: Option<LoadBalancerIngress>,
        /// Its state.
        conditions: Vec<Condition>,
        /// When a user last renewed it.
        last_heartbeat_timestamp: Option<Time>,
        /// When it expires, unless a user renews it.
        expiration_timestamp: Option<Time>,
        /// The observed generation.
        observed_generation: Option<i64>,
    }

    /// Address of a host.
    LoadBalancerIngress {
        /// Its IP address.
        ip: Option<String>,
        /// Its name in DNS.
        hostname: Option<String>,
        /// State of its ports.
        ports: Vec<PortStatus>,
    }

    /// State of a port.
    PortStatus {
        /// The port.
        port: i32,
        /// `TCP`, `UDP` or `SCTP`.
        protocol: String,
        /// Reason of a failure: `InvalidPort`.
        error: Option<String>,
    }
}
