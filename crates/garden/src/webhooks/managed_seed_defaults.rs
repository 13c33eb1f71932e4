//! Defaults of a ManagedSeed: of the Deployment of its gardenlet, and of the gardenlet's configuration.

use api::gardenlet::{API_VERSION, KIND};
use serde_json::{Map, Value, json};
use webhook::object::{self, WrongType};

use super::shoot_defaults::if_absent;

const GARDENLET: [&str; 2] = ["spec", "gardenlet"];

/// Sets the defaults of a gardenlet, if there is one: GDN-MSD-001 to -007.
pub(super) fn default(managed_seed: &mut Value) -> Result<(), WrongType> {
    if object::map(managed_seed, &GARDENLET)?.is_none() {
        return Ok(());
    }
    let text = |name| object::text(managed_seed, &["metadata", name]).map(str::to_owned);
    let (name, namespace) = (text("name")?, text("namespace")?);
    let gardenlet = object::map_mut(managed_seed, &GARDENLET)?;
    configuration(named(gardenlet)?, &name, &namespace)?;
    unless_null(gardenlet, "bootstrap", json!("BootstrapToken"));
    unless_null(gardenlet, "mergeWithParent", json!(true));
    deployment(unless_null(gardenlet, "deployment", json!({})))
}

/// The configuration of a gardenlet, with version and kind: GDN-MSD-004.
pub(super) fn named(gardenlet: &mut Map<String, Value>) -> Result<&mut Value, WrongType> {
    let config = unless_null(gardenlet, "config", json!({}));
    for (field, value) in [("apiVersion", API_VERSION), ("kind", KIND)] {
        if object::text(config, &[field])?.is_empty() {
            object::set(config, &[field], value)?;
        }
    }
    Ok(config)
}

/// A field, with this value if it is absent.
fn unless_null<'a>(fields: &'a mut Map<String, Value>, name: &str, value: Value) -> &'a mut Value {
    let field = fields.entry(name).or_insert(Value::Null);
    if field.is_null() {
        *field = value;
    }
    field
}

/// The Deployment of a gardenlet: GDN-MSD-002, GDN-MSD-003.
pub(super) fn deployment(deployment: &mut Value) -> Result<(), WrongType> {
    if_absent(deployment, &["replicaCount"], 2)?;
    if_absent(deployment, &["revisionHistoryLimit"], 2)?;
    if_absent(deployment, &["vpa"], true)?;
    let policy = match object::text(deployment, &["image", "tag"])? {
        "latest" => "Always",
        _ => "IfNotPresent",
    };
    if_absent(deployment, &["image", "pullPolicy"], policy)
}

/// Capacity for Shoots, and a Secret for the backup: GDN-MSD-005, GDN-MSD-006.
fn configuration(config: &mut Value, name: &str, namespace: &str) -> Result<(), WrongType> {
    const SECRET: [&str; 4] = ["seedConfig", "spec", "backup", "secretRef"];
    if_absent(config, &["resources", "capacity", "shoots"], "250")?;
    if_absent(config, &["seedConfig"], json!({}))?;
    let is_set = |field| {
        let path = [SECRET[0], SECRET[1], SECRET[2], SECRET[3], field];
        object::text(config, &path).map(|text| !text.is_empty())
    };
    let has_backup = object::map(config, &SECRET[..3])?.is_some();
    if has_backup && !is_set("name")? && !is_set("namespace")? {
        object::set(config, &SECRET, json!({"name": format!("backup-{name}"), "namespace": namespace}))?;
    }
    Ok(())
}
