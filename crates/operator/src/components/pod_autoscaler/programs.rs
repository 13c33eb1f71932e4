//! The programs of the vertical pod autoscaler, and how they differ.

use super::WEBHOOK_PORT;

/// A program of the vertical pod autoscaler.
#[derive(Clone, Copy, Debug)]
pub(super) struct AutoscalerProgram {
    /// Name of its Deployment, ServiceAccount and image.
    pub(super) name: &'static str,
    /// Name of its container and of the executable.
    pub(super) container: &'static str,
    /// Its arguments.
    pub(super) arguments: &'static [&'static str],
    /// Whether it needs to know its namespace.
    pub(super) knows_namespace: bool,
    /// Where it serves metrics and health.
    pub(super) metrics_port: u16,
    /// Where it serves what else it serves.
    pub(super) port: u16,
    /// Requested CPU and memory, and the limit of memory.
    pub(super) resources: [&'static str; 3],
    /// The priority class of its Pods.
    pub(super) priority: &'static str,
    /// Whether it may have several replicas: then a webhook decides how many.
    pub(super) is_available: bool,
    /// The memory that its VerticalPodAutoscaler leaves at least, if it has one.
    pub(super) memory: Option<&'static str>,
}

/// Sets the requests of new Pods.
pub(super) const ADMISSION_CONTROLLER: AutoscalerProgram = AutoscalerProgram {
    name: "vpa-admission-controller",
    container: "admission-controller",
    arguments: &[
        "--v=2",
        "--stderrthreshold=info",
        "--client-ca-file=/etc/tls-certs/bundle.crt",
        "--tls-cert-file=/etc/tls-certs/tls.crt",
        "--tls-private-key=/etc/tls-certs/tls.key",
        "--address=:8944",
        "--port=10250",
        "--register-webhook=false",
    ],
    knows_namespace: true,
    metrics_port: 8944,
    port: WEBHOOK_PORT,
    resources: ["30m", "200Mi", "3Gi"],
    priority: "gardener-garden-system-300",
    is_available: true,
    memory: Some("100Mi"),
};

/// Recommends requests. It does not scale itself. OPC-039, OPC-040.
pub(super) const RECOMMENDER: AutoscalerProgram = AutoscalerProgram {
    name: "vpa-recommender",
    container: "recommender",
    arguments: &[
        "--v=3",
        "--stderrthreshold=info",
        "--pod-recommendation-min-cpu-millicores=5",
        "--pod-recommendation-min-memory-mb=10",
        "--recommendation-margin-fraction=0.050000",
        "--recommender-interval=1m0s",
        "--kube-api-qps=100",
        "--kube-api-burst=120",
        "--memory-saver=true",
    ],
    knows_namespace: false,
    metrics_port: 8942,
    port: 8080,
    resources: ["200m", "800M", "4Gi"],
    priority: "gardener-garden-system-200",
    is_available: false,
    memory: None,
};

/// Evicts Pods whose requests are wrong. OPC-039.
const UPDATER: AutoscalerProgram = AutoscalerProgram {
    name: "vpa-updater",
    container: "updater",
    arguments: &[
        "--min-replicas=1",
        "--eviction-tolerance=1.000000",
        "--eviction-rate-burst=1",
        "--eviction-rate-limit=-1.000000",
        "--evict-after-oom-threshold=48h0m0s",
        "--updater-interval=1m0s",
        "--stderrthreshold=info",
        "--v=2",
        "--kube-api-qps=100",
        "--kube-api-burst=120",
    ],
    knows_namespace: true,
    metrics_port: 8943,
    port: 8080,
    resources: ["30m", "200Mi", "4Gi"],
    priority: "gardener-garden-system-200",
    is_available: false,
    memory: Some("50Mi"),
};

/// All of them.
pub(super) const PROGRAMS: [AutoscalerProgram; 3] = [ADMISSION_CONTROLLER, RECOMMENDER, UPDATER];
