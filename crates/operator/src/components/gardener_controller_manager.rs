//! gardener-controller-manager.

use api::operator::gardener::GardenerControllerManagerConfig;
use serde_json::{Value, json};

use super::error::RenderError;
use super::gardener_program::{GardenerProgram, ProgramParts, client_connection, leader_election, server};
use super::objects::{service, service_port};
use super::rbac::{ALL, account, cluster_role, cluster_role_binding, rule};
use super::rendering::Rendering;
use super::values::GardenValues;

/// Name of its Deployment.
pub const NAME: &str = "gardener-controller-manager";

/// The ClusterRole with which it may do everything, and its binding.
const ROLE: &str = "gardener.cloud:system:controller-manager";
const PROBE_PORT: u16 = 2718;
const METRICS_PORT: u16 = 2719;
const PROGRAM: GardenerProgram = GardenerProgram {
    name: NAME,
    role: "controller-manager",
    availability: "controller",
    priority: "gardener-garden-system-200",
    resources: ["1", "1Gi"],
    autoscaler: ["gardener-controller-manager-vpa", "300Mi"],
    config: ["gardener-controller-manager-config", "config.yaml"],
    probe_port: PROBE_PORT,
    liveness_delay: 30,
};

/// Its objects. OPC-124, OPC-125, OPC-127.
///
/// # Errors
/// If an image or a Secret is missing.
pub fn render(values: &GardenValues<'_>) -> Result<Rendering, RenderError> {
    let labels = PROGRAM.labels();
    let settings = values.garden.spec.virtual_cluster.gardener.controller_manager.as_ref();
    let parts = ProgramParts {
        config: config(settings),
        service: service(NAME, &labels, &[service_port("metrics", METRICS_PORT, METRICS_PORT)]),
        volume: None,
        in_virtual: vec![
            cluster_role(ROLE, &labels, &[rule(ALL, ALL, ALL)]),
            cluster_role_binding(ROLE, &labels, ROLE, &[account(NAME)]),
        ],
    };
    PROGRAM.render(values, parts)
}

fn config(settings: Option<&GardenerControllerManagerConfig>) -> Value {
    let log_level = settings.and_then(|settings| settings.log_level.as_deref()).unwrap_or("info");
    let mut config = json!({
        "apiVersion": "controllermanager.config.gardener.cloud/v1alpha1",
        "kind": "ControllerManagerConfiguration",
        "gardenClientConnection": client_connection(),
        "controllers": controllers(settings),
        "leaderElection": leader_election("gardener-controller-manager-leader-election"),
        "logLevel": log_level,
        "logFormat": "json",
        "server": {"healthProbes": server(PROBE_PORT), "metrics": server(METRICS_PORT)},
    });
    let gates = settings.map(|settings| &settings.feature_gates).filter(|gates| !gates.is_empty());
    if let Some(gates) = gates {
        config["featureGates"] = json!(gates);
    }
    config
}

fn controllers(settings: Option<&GardenerControllerManagerConfig>) -> Value {
    let workers = json!({"concurrentSyncs": 20});
    let threshold =
        |condition: &str| json!({"conditionThresholds": [{"type": condition, "duration": "1m0s"}]});
    let mut controllers = json!({
        "controllerRegistration": workers,
        "event": {"concurrentSyncs": 10, "ttlNonShootEvents": "2h0m0s"},
        "project": workers,
        "secretBinding": workers,
        "seed": {"concurrentSyncs": 20, "shootMonitorPeriod": "5m0s"},
        "seedBackupBucketsCheck": threshold("BackupBucketsReady"),
        "seedExtensionsCheck": threshold("ExtensionsReady"),
        "shootHibernation": {},
        "shootMaintenance": {
            "concurrentSyncs": 20,
            "enableShootControlPlaneRestarter": null,
            "enableShootCoreAddonRestarter": null,
        },
        "shootReference": workers,
    });
    let quotas = settings.map(|settings| settings.default_project_quotas.as_slice()).unwrap_or_default();
    if !quotas.is_empty() {
        let quota = quotas.iter().map(|quota| {
            let mut written = json!({"config": quota.config});
            if let Some(selector) = &quota.project_selector {
                written["projectSelector"] = json!(selector);
            }
            written
        });
        controllers["project"]["quotas"] = quota.collect();
    }
    controllers
}
