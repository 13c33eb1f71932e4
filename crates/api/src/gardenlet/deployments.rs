//! Settings of what a gardenlet deploys.

use std::collections::BTreeMap;

use crate::garden::{Duration, Quantity};

object! {
    /// Logging.
    Logging {
        /// Whether there is any.
        enabled: Option<bool>,
        /// Vali.
        vali: Option<Vali>,
        /// Logs of shoots' nodes.
        shoot_node_logging: Option<ShootNodeLogging>,
        /// Logs of events.
        shoot_event_logging: Option<ShootEventLogging>,
    }

    /// Vali.
    Vali {
        /// Whether there is one.
        enabled: Option<bool>,
        /// The seed's own.
        garden: Option<GardenVali>,
    }

    /// The seed's own Vali.
    GardenVali {
        /// Size of its volume.
        storage: Option<Quantity>,
    }

    /// Logs of shoots' nodes.
    ShootNodeLogging {
        /// Purposes of these shoots.
        shoot_purposes: Vec<String>,
    }

    /// Logs of events.
    ShootEventLogging {
        /// Whether there are any.
        enabled: Option<bool>,
    }

    /// How API servers are reached by their names.
    Sni {
        /// The ingress gateway.
        ingress: Option<SniIngress>,
    }

    /// An ingress gateway.
    SniIngress {
        /// Its Service.
        service_name: Option<String>,
        /// The address of the load balancer.
        #[serde(rename = "serviceExternalIP")]
        service_external_ip: Option<String>,
        /// Its namespace.
        namespace: Option<String>,
        /// Labels of its pods.
        labels: BTreeMap<String, String>,
    }

    /// Controllers of etcd.
    Etcd {
        /// Of Etcds.
        etcd_controller: Option<EtcdWorkers>,
        /// Of the health of Etcds.
        custodian_controller: Option<EtcdWorkers>,
        /// Of the compaction of backups.
        backup_compaction_controller: Option<BackupCompactionController>,
        /// Elections of what stores backups.
        backup_leader_election: Option<BackupLeaderElection>,
        /// Feature gates.
        feature_gates: BTreeMap<String, bool>,
    }

    /// How many objects are worked on at once.
    EtcdWorkers {
        /// The number.
        workers: Option<i64>,
    }

    /// Compaction of backups.
    BackupCompactionController {
        /// How many objects are worked on at once.
        workers: Option<i64>,
        /// Whether backups are compacted.
        enable_backup_compaction: Option<bool>,
        /// After how many events.
        events_threshold: Option<i64>,
        /// How long it may take.
        active_deadline_duration: Option<Duration>,
        /// How long metrics wait to be read.
        metrics_scrape_wait_duration: Option<Duration>,
    }

    /// Elections of what stores backups.
    BackupLeaderElection {
        /// Time between two.
        reelection_period: Option<Duration>,
        /// How long etcd may take to answer.
        etcd_connection_timeout: Option<Duration>,
    }

    /// What an ExposureClass means.
    ExposureClassHandler {
        /// Name of the handler.
        name: String,
        /// The load balancer.
        load_balancer_service: Option<LoadBalancerService>,
        /// The ingress gateway.
        sni: Option<Sni>,
    }

    /// A load balancer.
    LoadBalancerService {
        /// Annotations of its Service.
        annotations: BTreeMap<String, String>,
    }

    /// Monitoring.
    Monitoring {
        /// Of shoots.
        shoot: Option<ShootMonitoring>,
    }

    /// Monitoring of shoots.
    ShootMonitoring {
        /// Whether there is any.
        enabled: Option<bool>,
        /// Where metrics are written, too.
        remote_write: Option<RemoteWrite>,
        /// Labels of these metrics.
        external_labels: BTreeMap<String, String>,
    }

    /// Where metrics are written.
    RemoteWrite {
        /// The address.
        url: Option<String>,
        /// The metrics.
        keep: Vec<String>,
        /// Settings of the queue.
        queue_config: Option<String>,
    }

    /// How long pods stay on failing nodes.
    NodeToleration {
        /// That are not ready.
        default_not_ready_toleration_seconds: Option<i64>,
        /// That cannot be reached.
        default_unreachable_toleration_seconds: Option<i64>,
    }
}
