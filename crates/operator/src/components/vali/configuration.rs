//! The configuration of Vali, and of the curator that deletes old chunks of log when the volume gets full.

use std::collections::BTreeMap;

use formats::yaml;
use serde_json::{Value, json};

use super::{PORT, labels};
use crate::components::error::RenderError;
use crate::components::unique;

/// The key of Vali's configuration.
pub(super) const VALI_KEY: &str = "vali.yaml";
/// The key of the curator's configuration.
pub(super) const CURATOR_KEY: &str = "curator.yaml";
/// The key of the script that prepares the volume.
pub(super) const SCRIPT_KEY: &str = "vali-init.sh";
/// Where the volume is mounted.
pub(super) const DATA_PATH: &str = "/data";

/// How long logs are kept: 15 days.
const RETENTION: &str = "360h";
const SCRIPT: &str = include_str!("large_directories.sh");

/// The ConfigMap with all of them, whose content never changes.
pub(super) fn config_map() -> Result<Value, RenderError> {
    let text = |key: &str, value: &Value| yaml::to_string(value).map_err(RenderError::yaml(key));
    let data = BTreeMap::from([
        (VALI_KEY.to_owned(), text(VALI_KEY, &vali())?),
        (CURATOR_KEY.to_owned(), text(CURATOR_KEY, &curator())?),
        (SCRIPT_KEY.to_owned(), SCRIPT.to_owned()),
    ]);
    Ok(unique::config_map("vali-config", &labels(), &data))
}

/// One instance without authentication, which keeps all in files.
fn vali() -> Value {
    json!({
        "auth_enabled": false,
        "ingester": ingester(),
        "limits_config": {
            "enforce_metric_name": false,
            "reject_old_samples": true,
            "reject_old_samples_max_age": "168h",
        },
        "schema_config": {
            "configs": [{
                "from": "2018-04-15",
                "store": "boltdb",
                "object_store": "filesystem",
                "schema": "v11",
                "index": { "prefix": "index_", "period": "24h" },
            }],
        },
        "server": { "http_listen_port": PORT },
        "storage_config": {
            "boltdb": { "directory": format!("{DATA_PATH}/vali/index") },
            "filesystem": { "directory": format!("{DATA_PATH}/vali/chunks") },
        },
        "chunk_store_config": { "max_look_back_period": RETENTION },
        "table_manager": { "retention_deletes_enabled": true, "retention_period": RETENTION },
    })
}

/// How chunks are filled and written.
fn ingester() -> Value {
    json!({
        "chunk_target_size": 1_536_000,
        "chunk_idle_period": "3m",
        "chunk_block_size": 262_144,
        "chunk_retain_period": "3m",
        "max_transfer_retries": 3,
        "lifecycler": {
            "ring": { "kvstore": { "store": "inmemory" }, "replication_factor": 1 },
            "final_sleep": "0s",
            "min_ready_duration": "1s",
        },
    })
}

/// It looks every hour whether less than 10 % of the volume are free, and deletes until 15 % are.
fn curator() -> Value {
    let percentages = json!({
        "MinFreePercentages": 10,
        "TargetFreePercentages": 15,
        "PageSizeForDeletionPercentages": 1,
    });
    json!({
        "LogLevel": "info",
        "DiskPath": format!("{DATA_PATH}/vali/chunks"),
        "TriggerInterval": "1h",
        "InodeConfig": percentages,
        "StorageConfig": percentages,
    })
}
