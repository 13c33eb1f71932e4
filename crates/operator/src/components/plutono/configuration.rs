//! Where Plutono finds dashboards, and what they ask.

use std::collections::BTreeMap;

use formats::yaml;
use serde_json::{Value, json};

use super::labels;
use crate::components::error::RenderError;
use crate::components::{unique, vali};

/// Where dashboards are.
pub(super) const DASHBOARDS_PATH: &str = "/var/lib/plutono/dashboards";

/// The ConfigMaps with where dashboards are, and with what they ask.
pub(super) fn config_maps() -> Result<[Value; 2], RenderError> {
    Ok([
        config_map("plutono-dashboard-providers", "default.yaml", &providers())?,
        config_map("plutono-datasources", "datasources.yaml", &sources())?,
    ])
}

fn config_map(prefix: &str, key: &str, content: &Value) -> Result<Value, RenderError> {
    let text = yaml::to_string(content).map_err(RenderError::yaml(prefix))?;
    Ok(unique::config_map(prefix, &labels(), &BTreeMap::from([(key.to_owned(), text)])))
}

fn providers() -> Value {
    let provider = |name: &str, folder: &str| {
        json!({
            "name": name,
            "orgId": 1,
            "folder": folder,
            "type": "file",
            "disableDeletion": false,
            "editable": false,
            "updateIntervalSeconds": 120,
            "options": { "path": format!("{DASHBOARDS_PATH}/{name}") },
        })
    };
    json!({ "apiVersion": 1, "providers": [provider("global", "Global"), provider("garden", "Garden")] })
}

/// This operator deploys Vali alone.
fn sources() -> Value {
    let prometheus = |name: &str, host: &str, is_default: bool, interval: &str| {
        json!({
            "name": name,
            "type": "prometheus",
            "access": "proxy",
            "url": format!("http://{host}:80"),
            "basicAuth": false,
            "isDefault": is_default,
            "version": 1,
            "editable": false,
            "jsonData": { "timeInterval": interval },
        })
    };
    let logs = json!({
        "name": "vali",
        "type": "vali",
        "access": "proxy",
        "url": format!("http://{}.garden.svc:{}", vali::SERVICE, vali::PORT),
        "jsonData": { "maxLines": 5000 },
    });
    json!({
        "apiVersion": 1,
        "deleteDatasources": [{ "name": "Graphite", "orgId": 1 }],
        "datasources": [
            prometheus("prometheus", "garden-prometheus", true, "1m"),
            prometheus("availability-prometheus", "garden-avail-prom", false, "30s"),
            logs,
        ],
    })
}
