//! Dashboards: a few panels for each of the original's, and those of extensions as they are.

use std::collections::BTreeMap;

use formats::yaml;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::dashboard_table::{Dashboard, GARDEN, GLOBAL};
use super::labels;
use crate::components::error::RenderError;
use crate::components::unique;

/// The columns of a dashboard, two panels beside each other, and the rows of a panel.
const PANEL_SIZE: [usize; 2] = [12, 8];

/// Those of the garden, and of extensions; one of an extension with the same name as one of ours is left out. OPC-136.
pub(super) fn of_garden(extensions: &BTreeMap<String, String>) -> Result<Value, RenderError> {
    let mut data = of_extensions(extensions)?;
    data.extend(GARDEN.iter().map(written));
    Ok(unique::config_map("plutono-dashboards-garden", &labels(), &data))
}

/// Those of all Seeds and Shoots.
pub(super) fn global() -> Value {
    let data = GLOBAL.iter().map(written).collect();
    unique::config_map("plutono-dashboards-global", &labels(), &data)
}

/// Texts in the order of their ConfigMaps' names, which together are one map of dashboards by their files. They may be made for the
/// programs from which Plutono and Vali were forked.
fn of_extensions(extensions: &BTreeMap<String, String>) -> Result<BTreeMap<String, String>, RenderError> {
    let texts = extensions.values().filter(|text| !text.is_empty());
    let all: String =
        texts.map(|text| text.replace("Grafana", "Plutono").replace("loki", "vali") + "\n").collect();
    if all.is_empty() {
        return Ok(BTreeMap::new());
    }
    let mut compact = BTreeMap::new();
    for (file, text) in read::<BTreeMap<String, String>>("of extensions", &all)? {
        let dashboard: Value = read(&file, &text)?;
        compact.insert(file, dashboard.to_string());
    }
    Ok(compact)
}

fn read<T: DeserializeOwned>(name: &str, text: &str) -> Result<T, RenderError> {
    yaml::from_str(text).map_err(|source| RenderError::Dashboards { name: name.to_owned(), source })
}

/// A dashboard in compact JSON, by its file: a ConfigMap does not hold much.
fn written(dashboard: &Dashboard) -> (String, String) {
    let Dashboard { file, title, panels } = dashboard;
    let panels: Vec<Value> =
        panels.iter().enumerate().map(|(index, (title, query))| panel(index, title, query)).collect();
    let content = json!({
        "title": title,
        "editable": false,
        "schemaVersion": 27,
        "refresh": "1m",
        "time": { "from": "now-3h", "to": "now" },
        "panels": panels,
    });
    (format!("{file}.json"), content.to_string())
}

fn panel(index: usize, title: &str, query: &str) -> Value {
    let [width, height] = PANEL_SIZE;
    json!({
        "id": index + 1,
        "type": "graph",
        "title": title,
        "datasource": "prometheus",
        "gridPos": { "x": index % 2 * width, "y": index / 2 * height, "w": width, "h": height },
        "targets": [{ "refId": "A", "expr": query }],
    })
}
