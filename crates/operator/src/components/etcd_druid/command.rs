//! The command of etcd-druid.

use formats::duration::GoDuration;

use crate::components::api_server::gates;
use crate::config::{BackupCompactionController, EtcdConfig, Workers};

const WORKERS: i64 = 50;
const CUSTODIAN_WORKERS: i64 = 10;
const COMPACTION_WORKERS: i64 = 3;
const EVENTS_THRESHOLD: i64 = 1_000_000;
const METRICS_SCRAPE_WAIT: GoDuration = GoDuration::from_seconds(60);

/// The command for these settings; `None`: all have defaults. A field that is missing in them has one, too, except the duration: the
/// original ends if a number is missing, and leaves the duration's flag out. OPC-042.
pub(super) fn command(settings: Option<&EtcdConfig>) -> Vec<String> {
    let etcds = workers(settings.and_then(|settings| settings.etcd_controller.as_ref()), WORKERS);
    let custodian =
        workers(settings.and_then(|settings| settings.custodian_controller.as_ref()), CUSTODIAN_WORKERS);
    let none = BackupCompactionController::default();
    let compaction = settings.and_then(|settings| settings.backup_compaction_controller.as_ref());
    let scrape_wait = if settings.is_none() {
        Some(METRICS_SCRAPE_WAIT)
    } else {
        compaction.and_then(|compaction| compaction.metrics_scrape_wait_duration)
    };
    let compaction = compaction.unwrap_or(&none);
    let deadline = compaction.active_deadline_duration;
    let mut command = vec![
        "/etcd-druid".to_owned(),
        "--enable-leader-election=true".to_owned(),
        "--ignore-operation-annotation=false".to_owned(),
        "--disable-etcd-serviceaccount-automount=true".to_owned(),
        format!("--workers={etcds}"),
        format!("--custodian-workers={custodian}"),
        format!("--compaction-workers={}", compaction.workers.unwrap_or(COMPACTION_WORKERS)),
        format!("--enable-backup-compaction={}", compaction.enable_backup_compaction.unwrap_or_default()),
        format!("--etcd-events-threshold={}", compaction.events_threshold.unwrap_or(EVENTS_THRESHOLD)),
    ];
    command.extend(scrape_wait.map(|duration| format!("--metrics-scrape-wait-duration={duration}")));
    command.extend(deadline.map(|duration| format!("--active-deadline-duration={duration}")));
    command.extend(settings.and_then(|settings| gates(&settings.feature_gates)));
    command
}

fn workers(controller: Option<&Workers>, default: i64) -> i64 {
    controller.and_then(|controller| controller.workers).unwrap_or(default)
}
