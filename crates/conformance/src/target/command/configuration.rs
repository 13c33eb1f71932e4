//! The configuration file of a started target: its own file, the case's configuration, and the fields in `set`.

use std::path::Path;

use contract::document::target::TargetConfig;
use serde_json::{Map, Value};

use super::file;
use super::placeholders::Placeholders;
use crate::target::TargetError;

/// The content of the file as JSON, which is valid YAML.
pub(super) fn make(
    config: &TargetConfig,
    folder: &Path,
    case: &Value,
    placeholders: &Placeholders,
    two_clusters: bool,
) -> Result<String, TargetError> {
    let mut merged = match &config.file {
        None => Value::Object(Map::new()),
        Some(name) => read(&folder.join(name))?,
    };
    merge(&mut merged, case);
    let clusters = config.clusters.iter().filter(|_| two_clusters);
    for (path, value) in config.set.iter().chain(clusters) {
        let segments: Vec<&str> = path.split('.').collect();
        set(&mut merged, &segments, placeholders.fill_value(value)?);
    }
    let merged = placeholders.fill_value(&merged)?;
    Ok(serde_json::to_string_pretty(&merged).expect("a configuration is JSON"))
}

/// The case's configuration only, with version and kind of the target's own file, as JSON.
pub(super) fn without_own_fields(
    config: &TargetConfig,
    folder: &Path,
    case: &Value,
) -> Result<String, TargetError> {
    let own = match &config.file {
        None => Value::Null,
        Some(name) => read(&folder.join(name))?,
    };
    let heads = ["apiVersion", "kind"].into_iter();
    let mut fields: Map<String, Value> =
        heads.filter_map(|name| Some((name.to_owned(), own.get(name)?.clone()))).collect();
    fields.extend(case.as_object().cloned().unwrap_or_default());
    Ok(Value::Object(fields).to_string())
}

fn read(path: &Path) -> Result<Value, TargetError> {
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|source| file("read", &name, source))?;
    let mut documents = formats::yaml::documents(&text)
        .map_err(|error| TargetError::Description { what: name, reason: error.to_string() })?;
    Ok(if documents.is_empty() { Value::Null } else { documents.swap_remove(0) })
}

/// Merges maps; everything else is replaced, null removes.
fn merge(value: &mut Value, other: &Value) {
    match (value, other) {
        (Value::Object(fields), Value::Object(other)) => {
            for (name, value) in other {
                if value.is_null() {
                    fields.remove(name);
                } else {
                    merge(fields.entry(name.clone()).or_insert(Value::Null), value);
                }
            }
        }
        (_, Value::Null) => {}
        (value, other) => *value = other.clone(),
    }
}

fn set(target: &mut Value, path: &[&str], value: Value) {
    let Some((first, rest)) = path.split_first() else {
        *target = value;
        return;
    };
    if !target.is_object() {
        *target = Value::Object(Map::new());
    }
    let fields = target.as_object_mut().expect("it was made one");
    set(fields.entry((*first).to_owned()).or_insert(Value::Null), rest, value);
}

#[cfg(test)]
mod tests {
    use super::super::placeholders::{Files, Kubeconfigs};
    use super::*;
    use serde_json::json;

    #[test]
    fn file_case_and_set_are_merged_in_this_order() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("c.yaml"), "server: {port: 1, bind: x}\nlist: [1]\nold: 1\n")
            .unwrap();
        let set = json!({"server.port": 2, "server.tls.dir": "d"}).as_object().cloned().unwrap();
        let config = TargetConfig { file: Some("c.yaml".to_owned()), set, ..TargetConfig::default() };
        let files = Files { here: folder.path(), seen: folder.path() };
        let placeholders = Placeholders::new(files, Kubeconfigs::default()).unwrap();
        let case = json!({"server": {"port": 3}, "list": [2, 3], "old": null});
        let made: Value =
            serde_json::from_str(&make(&config, folder.path(), &case, &placeholders, false).unwrap())
                .unwrap();
        assert_eq!(made, json!({"server": {"port": 2, "bind": "x", "tls": {"dir": "d"}}, "list": [2, 3]}));
    }
}
