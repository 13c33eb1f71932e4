//! Which dashboards there are, and what they ask Prometheus.

/// A dashboard.
pub(super) struct Dashboard {
    /// The name of its file, without its ending.
    pub(super) file: &'static str,
    /// What it is called.
    pub(super) title: &'static str,
    /// Titles and questions of its panels.
    pub(super) panels: &'static [(&'static str, &'static str)],
}

/// Those about the garden itself.
pub(super) const GARDEN: [Dashboard; 14] = [
    Dashboard {
        file: "garden-alertmanager-dashboard",
        title: "Gardener Alertmanager HA",
        panels: &[
            ("Alerts", "sum by (state) (alertmanager_alerts)"),
            (
                "Failed notifications",
                "sum by (integration) (rate(alertmanager_notifications_failed_total[5m]))",
            ),
        ],
    },
    Dashboard {
        file: "garden-availability-dashboard",
        title: "Garden Availability",
        panels: &[("Targets that answer", "avg by (job) (up)")],
    },
    Dashboard {
        file: "gardener-admission-controller-dashboard",
        title: "Gardener Admission Controller",
        panels: &[
            (
                "Requests",
                r#"sum by (webhook, code) (rate(controller_runtime_webhook_requests_total{job="gardener-admission-controller"}[5m]))"#,
            ),
            ("Memory", r#"process_resident_memory_bytes{job="gardener-admission-controller"}"#),
        ],
    },
    Dashboard {
        file: "gardener-admission-controller-seedauthorizer-details",
        title: "Gardener Admission Controller (SeedAuthorizer Details)",
        panels: &[(
            "Requests",
            r#"sum by (code) (rate(controller_runtime_webhook_requests_total{webhook=~".*seed.*"}[5m]))"#,
        )],
    },
    Dashboard {
        file: "gardener-controlplane",
        title: "Gardener Control Plane",
        panels: &[
            ("Reconciliations", "sum by (controller) (rate(controller_runtime_reconcile_total[5m]))"),
            ("Failures", "sum by (controller) (rate(controller_runtime_reconcile_errors_total[5m]))"),
        ],
    },
    Dashboard {
        file: "kubernetes-pods-dashboard",
        title: "Kubernetes Pods",
        panels: &[
            ("CPU", r#"sum by (pod) (rate(container_cpu_usage_seconds_total{container!=""}[5m]))"#),
            ("Memory", r#"sum by (pod) (container_memory_working_set_bytes{container!=""})"#),
            ("Restarts", "sum by (pod) (increase(kube_pod_container_status_restarts_total[1h]))"),
        ],
    },
    Dashboard {
        file: "virtual-garden-etcd-backup-dashboard",
        title: "Virtual Garden ETCD Backup Dashboard",
        panels: &[
            ("Age of the latest snapshot", "time() - max by (role, kind) (etcdbr_snapshot_latest_timestamp)"),
            (
                "Snapshots",
                "sum by (role, kind, succeeded) (rate(etcdbr_snapshot_duration_seconds_count[1h]))",
            ),
        ],
    },
    Dashboard {
        file: "virtual-garden-etcd-dashboard",
        title: "Virtual Garden ETCD",
        panels: &[
            ("Members with a leader", "sum by (role) (etcd_server_has_leader)"),
            ("Size of the database", "etcd_mvcc_db_total_size_in_bytes"),
        ],
    },
    Dashboard {
        file: "apiserver-admission-details",
        title: "API Server (Admission Details)",
        panels: &[
            (
                "Webhooks",
                "sum by (name, rejected) (rate(apiserver_admission_webhook_admission_duration_seconds_count[5m]))",
            ),
            (
                "Plugins",
                "sum by (name, rejected) (rate(apiserver_admission_controller_admission_duration_seconds_count[5m]))",
            ),
        ],
    },
    Dashboard {
        file: "apiserver-overview",
        title: "API Server",
        panels: &[
            ("Requests", "sum by (verb) (rate(apiserver_request_total[5m]))"),
            ("Failures", r#"sum by (verb, code) (rate(apiserver_request_total{code=~"5.."}[5m]))"#),
        ],
    },
    Dashboard {
        file: "apiserver-request-details",
        title: "API Server (Request Details)",
        panels: &[
            ("Requests", "sum by (resource, verb) (rate(apiserver_request_total[5m]))"),
            ("Requests in progress", "sum by (request_kind) (apiserver_current_inflight_requests)"),
        ],
    },
    Dashboard {
        file: "apiserver-request-duration-and-response-size",
        title: "API Server Request Duration and Response Size",
        panels: &[
            (
                "Duration that 99 % keep",
                r#"histogram_quantile(0.99, sum by (le, verb) (rate(apiserver_request_duration_seconds_bucket{verb!="WATCH"}[5m])))"#,
            ),
            (
                "Size that 99 % keep",
                "histogram_quantile(0.99, sum by (le, verb) (rate(apiserver_response_sizes_bucket[5m])))",
            ),
        ],
    },
    Dashboard {
        file: "apiserver-storage-details",
        title: "API Server (Storage Details)",
        panels: &[
            ("Objects", "max by (resource) (apiserver_storage_objects)"),
            ("Requests to etcd", "sum by (operation) (rate(etcd_request_duration_seconds_count[5m]))"),
        ],
    },
    Dashboard {
        file: "apiserver-watch-details",
        title: "API Server (Watch Details)",
        panels: &[
            ("Watches", "sum by (kind) (apiserver_registered_watchers)"),
            ("Events", "sum by (kind) (rate(apiserver_watch_events_total[5m]))"),
        ],
    },
];

/// Those about all Seeds and Shoots.
pub(super) const GLOBAL: [Dashboard; 7] = [
    Dashboard {
        file: "alerts-dashboard",
        title: "Alerts",
        panels: &[("Alerts", r#"sum by (alertname, severity) (ALERTS{alertstate="firing"})"#)],
    },
    Dashboard {
        file: "container-runtime",
        title: "Container Runtimes",
        panels: &[("Nodes", "count by (container_runtime_version) (kube_node_info)")],
    },
    Dashboard {
        file: "seed-resource-usage-dashboard",
        title: "Seed Resource Usage",
        panels: &[("Usage", "garden_seed_usage"), ("Capacity", "garden_seed_capacity")],
    },
    Dashboard {
        file: "shoot-availability-dashboard",
        title: "Shoot Availability",
        panels: &[("Shoots without a fault", "avg by (condition) (garden_shoot_condition)")],
    },
    Dashboard {
        file: "shoot-details-dashboard",
        title: "Shoot Details",
        panels: &[
            ("Shoots", "count by (version) (garden_shoot_info)"),
            ("Conditions", "min by (name, condition) (garden_shoot_condition)"),
        ],
    },
    Dashboard {
        file: "shoot-sla-dashboard",
        title: "Shoot SLA",
        panels: &[(
            "Availability in 30 days",
            r#"avg_over_time(avg by (seed) (garden_shoot_condition{condition="APIServerAvailable"})[30d:1h])"#,
        )],
    },
    Dashboard {
        file: "shoot-sli-dashboard",
        title: "Shoot SLI",
        panels: &[("Operations", "sum by (operation, state) (garden_shoot_operation_states)")],
    },
];
