//! Notations in the configuration of a gardenlet. An API server does not check them, because this part of a custom resource
//! may be any object.

use formats::duration::GoDuration;
use formats::quantity::Quantity;
use serde_json::Value;
use webhook::rejection::Rejection;

/// Durations; `*` is any element.
const DURATIONS: [&str; 23] = [
    "controllers.controllerInstallationCare.syncPeriod",
    "controllers.managedSeed.syncJitterPeriod",
    "controllers.managedSeed.syncPeriod",
    "controllers.managedSeed.waitSyncPeriod",
    "controllers.seed.syncPeriod",
    "controllers.seedCare.conditionThresholds.*.duration",
    "controllers.seedCare.syncPeriod",
    "controllers.shoot.progressReportPeriod",
    "controllers.shoot.retryDuration",
    "controllers.shoot.syncPeriod",
    "controllers.shootCare.conditionThresholds.*.duration",
    "controllers.shootCare.managedResourceProgressingThreshold",
    "controllers.shootCare.staleExtensionHealthChecks.threshold",
    "controllers.shootCare.syncPeriod",
    "controllers.shootState.syncPeriod",
    "etcdConfig.backupCompactionController.activeDeadlineDuration",
    "etcdConfig.backupCompactionController.metricsScrapeWaitDuration",
    "etcdConfig.backupLeaderElection.etcdConnectionTimeout",
    "etcdConfig.backupLeaderElection.reelectionPeriod",
    "gardenClientConnection.kubeconfigValidity.validity",
    "leaderElection.leaseDuration",
    "leaderElection.renewDeadline",
    "leaderElection.retryPeriod",
];
/// Quantities.
const QUANTITIES: [&str; 5] = [
    "logging.vali.garden.storage",
    "resources.capacity.*",
    "resources.reserved.*",
    "seedConfig.spec.settings.excessCapacityReservation.configs.*.resources.*",
    "seedConfig.spec.volume.minimumSize",
];

/// Durations and quantities: GDN-GLC-002.
///
/// # Errors
/// 400 with the first invalid one.
pub(super) fn validate(kind: &str, config: &Value) -> Result<(), Rejection> {
    let each = |paths: &[&'static str]| -> Vec<String> {
        paths.iter().flat_map(|path| found(config, path)).filter_map(text).collect()
    };
    let durations = each(&DURATIONS);
    let durations = durations.iter().filter_map(|text| GoDuration::parse(text).err());
    let quantities = each(&QUANTITIES);
    let quantities = quantities.iter().filter_map(|text| Quantity::parse(text).err());
    let mut wrong = durations.map(|error| error.to_string()).chain(quantities.map(|error| error.to_string()));
    match wrong.next() {
        None => Ok(()),
        Some(error) => Err(Rejection::undecodable(format!("failed to read the {kind}: {error}"))),
    }
}

/// A quantity may be written as a number.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// The values at a path.
fn found<'a>(value: &'a Value, path: &str) -> Vec<&'a Value> {
    path.split('.')
        .fold(vec![value], |within, step| within.into_iter().flat_map(|value| below(value, step)).collect())
}

fn below<'a>(value: &'a Value, step: &str) -> Vec<&'a Value> {
    match (value, step) {
        (Value::Object(fields), "*") => fields.values().collect(),
        (Value::Array(items), "*") => items.iter().collect(),
        (Value::Object(fields), name) => fields.get(name).into_iter().collect(),
        _ => Vec::new(),
    }
}
