//! gardener-scheduler.

use api::operator::gardener::GardenerSchedulerConfig;
use serde_json::{Value, json};

use super::error::RenderError;
use super::gardener_program::{GardenerProgram, ProgramParts, client_connection, leader_election, server};
use super::objects::{service, service_port};
use super::rbac::{READ, account, cluster_role, cluster_role_binding, rule};
use super::rendering::Rendering;
use super::values::GardenValues;

/// Name of its Deployment.
pub const NAME: &str = "gardener-scheduler";

/// Its ClusterRole, and the binding.
const ROLE: &str = "gardener.cloud:system:scheduler";
const LEASE: &str = "gardener-scheduler-leader-election";
const PROBE_PORT: u16 = 10251;
const METRICS_PORT: u16 = 19251;
const PROGRAM: GardenerProgram = GardenerProgram {
    name: NAME,
    role: "scheduler",
    availability: "controller",
    priority: "gardener-garden-system-200",
    resources: ["50m", "50Mi"],
    autoscaler: ["gardener-scheduler-vpa", "25Mi"],
    config: ["gardener-scheduler-config", "schedulerconfiguration.yaml"],
    probe_port: PROBE_PORT,
    liveness_delay: 15,
};

/// Its objects. OPC-124, OPC-126, OPC-127.
///
/// # Errors
/// If an image or a Secret is missing.
pub fn render(values: &GardenValues<'_>) -> Result<Rendering, RenderError> {
    let labels = PROGRAM.labels();
    let settings = values.garden.spec.virtual_cluster.gardener.scheduler.as_ref();
    let parts = ProgramParts {
        config: config(settings),
        service: service(NAME, &labels, &[service_port("metrics", METRICS_PORT, METRICS_PORT)]),
        volume: None,
        in_virtual: vec![
            cluster_role(ROLE, &labels, &rules()),
            cluster_role_binding(ROLE, &labels, ROLE, &[account(NAME)]),
        ],
    };
    PROGRAM.render(values, parts)
}

fn config(settings: Option<&GardenerSchedulerConfig>) -> Value {
    let log_level = settings.and_then(|settings| settings.log_level.as_deref()).unwrap_or("info");
    let mut config = json!({
        "apiVersion": "scheduler.config.gardener.cloud/v1alpha1",
        "kind": "SchedulerConfiguration",
        "clientConnection": client_connection(),
        "leaderElection": leader_election(LEASE),
        "logLevel": log_level,
        "logFormat": "json",
        "server": {"healthProbes": server(PROBE_PORT), "metrics": server(METRICS_PORT)},
        "schedulers": {
            "shoot": {"candidateDeterminationStrategy": "MinimalDistance", "concurrentSyncs": 0},
        },
    });
    let gates = settings.map(|settings| &settings.feature_gates).filter(|gates| !gates.is_empty());
    if let Some(gates) = gates {
        config["featureGates"] = json!(gates);
    }
    config
}

fn rules() -> Vec<Value> {
    let (core, leases) = (["core.gardener.cloud"], ["coordination.k8s.io"]);
    let change = ["create", "delete", "get", "list", "watch", "patch", "update"];
    let mut own_lease = rule(&leases, &["leases"], &["get", "watch", "update"]);
    own_lease["resourceNames"] = json!([LEASE]);
    vec![
        rule(&[""], &["events"], &["create", "patch", "update"]),
        rule(&[""], &["configmaps"], &change),
        rule(&core, &["cloudprofiles", "seeds"], READ),
        rule(&core, &["shoots", "shoots/status"], &["get", "list", "watch", "patch", "update"]),
        rule(&core, &["shoots/binding"], &["update"]),
        rule(&leases, &["leases"], &["create"]),
        own_lease,
    ]
}
