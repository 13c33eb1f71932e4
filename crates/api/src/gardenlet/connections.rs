//! How a gardenlet reaches clusters, and is reached.

use k8s_openapi::ByteString;

use crate::garden::Duration;
use crate::garden::reference::SecretReference;

object! {
    /// How a cluster is reached.
    Connection {
        /// Path of the kubeconfig.
        kubeconfig: Option<String>,
        /// Accepted media types.
        accept_content_types: Option<String>,
        /// Media type of requests.
        content_type: Option<String>,
        /// Requests each second.
        qps: Option<f64>,
        /// Requests at once.
        burst: Option<i32>,
    }

    /// How the garden is reached.
    GardenConnection {
        /// Path of the kubeconfig.
        kubeconfig: Option<String>,
        /// Accepted media types.
        accept_content_types: Option<String>,
        /// Media type of requests.
        content_type: Option<String>,
        /// Requests each second.
        qps: Option<f64>,
        /// Requests at once.
        burst: Option<i32>,
        /// Address of the garden's API server.
        garden_cluster_address: Option<String>,
        /// Its authorities, in PEM.
        #[serde(rename = "gardenClusterCACert")]
        #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
        garden_cluster_ca_cert: Option<ByteString>,
        /// The Secret with the first kubeconfig.
        bootstrap_kubeconfig: Option<SecretReference>,
        /// The Secret for the kubeconfig that the gardenlet requested.
        kubeconfig_secret: Option<SecretReference>,
        /// How long that kubeconfig is used.
        kubeconfig_validity: Option<KubeconfigValidity>,
    }

    /// How long a kubeconfig is used.
    KubeconfigValidity {
        /// How long it is valid.
        validity: Option<Duration>,
        /// The smallest part of that time, in percent, after which it is renewed.
        auto_rotation_jitter_percentage_min: Option<i32>,
        /// The largest part.
        auto_rotation_jitter_percentage_max: Option<i32>,
    }

    /// A leader election.
    LeaderElection {
        /// Whether there is one.
        leader_elect: Option<bool>,
        /// How long others wait for a leader.
        lease_duration: Option<Duration>,
        /// How long a leader tries to renew its lease.
        renew_deadline: Option<Duration>,
        /// Time between two attempts.
        retry_period: Option<Duration>,
        /// Kind of the lock.
        resource_lock: Option<String>,
        /// Its name.
        resource_name: Option<String>,
        /// Its namespace.
        resource_namespace: Option<String>,
    }

    /// Servers of a program.
    Server {
        /// Probes.
        health_probes: Option<Address>,
        /// Metrics.
        metrics: Option<Address>,
    }

    /// Where a program listens.
    Address {
        /// The address.
        bind_address: Option<String>,
        /// The port.
        port: Option<i64>,
    }
}
