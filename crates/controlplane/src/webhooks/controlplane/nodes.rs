//! kubelet.service, the kubelet's configuration, kernel settings.

use std::collections::BTreeMap;

use formats::unit::{self, UnitOption};
use formats::version::Version;
use serde_json::{Map, Value};

use crate::command_line::CommandLine;
use crate::config::ControlPlaneWebhooksConfiguration;
use crate::ensurer::{Ensured, failed};

const CLOUD_PROVIDER: &str = "--cloud-provider";
const CLOUD_CONFIG: &str = "--cloud-config";
const SERVICE: &str = "Service";
const EXEC_START: &str = "ExecStart";

/// With CSI plugins, an external controller manages the cloud; Gardener's other flags stay.
///
/// CP-094, CP-097, CP-098, CP-099, CP-100, CP-102, CP-103, CP-109.
pub(super) fn kubelet_service_unit(
    config: &ControlPlaneWebhooksConfiguration,
    options: &mut Vec<UnitOption>,
) {
    let wanted = &config.kubelet;
    // An empty ExecStart resets the earlier ones; systemd accepts only one of the remaining.
    let place = unit::effective(options, SERVICE, EXEC_START).pop();
    if let Some(start) = place.and_then(|place| options.get_mut(place)) {
        let mut line = CommandLine::of_line(&start.value);
        let is_named = |flag: &str| {
            wanted.flags.contains_key(flag) || wanted.removed_flags.iter().any(|known| known == flag)
        };
        if config.csi && !is_named(CLOUD_PROVIDER) {
            line.set(CLOUD_PROVIDER, "external");
        }
        if config.csi && !is_named(CLOUD_CONFIG) {
            line.remove(CLOUD_CONFIG);
        }
        wanted.removed_flags.iter().for_each(|flag| line.remove(flag));
        wanted.flags.iter().for_each(|(flag, value)| line.set(flag, value));
        start.value = line.to_line();
    }
    for option in &wanted.unit_options {
        let option = UnitOption {
            section: option.section.clone(),
            name: option.name.clone(),
            value: option.value.trim().to_owned(),
        };
        if !options.contains(&option) {
            options.push(option);
        }
    }
}

/// CP-104, CP-105.
pub(super) fn kubelet_configuration(
    config: &ControlPlaneWebhooksConfiguration,
    kubelet: &Version,
    configuration: &mut Map<String, Value>,
) -> Ensured {
    if config.csi {
        configuration.insert("enableControllerAttachDetach".to_owned(), Value::Bool(true));
    }
    for (field, value) in &config.kubelet.configuration {
        merge(configuration.entry(field.clone()).or_insert(Value::Null), value);
    }
    let gates: Vec<_> = config.kubelet.feature_gates.iter().filter(|gate| gate.is_in(kubelet)).collect();
    if gates.is_empty() {
        return Ok(());
    }
    let all = configuration.entry("featureGates").or_insert(Value::Null);
    if all.is_null() {
        *all = Value::Object(Map::new());
    }
    let all =
        all.as_object_mut().ok_or_else(|| failed("featureGates of the kubelet configuration is no map"))?;
    all.extend(gates.iter().map(|gate| (gate.name.clone(), Value::Bool(gate.enabled))));
    Ok(())
}

/// Changes each setting in its line, or appends a line.
pub(super) fn kernel(wanted: &BTreeMap<String, String>, settings: &mut String) {
    for (name, value) in wanted {
        let line = format!("{name} = {value}");
        let is_of = |line: &str| line.split_once('=').is_some_and(|(known, _)| known.trim() == name);
        if settings.lines().any(is_of) {
            let ends = if settings.ends_with('\n') { "\n" } else { "" };
            let lines = settings.lines().map(|known| if is_of(known) { line.as_str() } else { known });
            *settings = lines.collect::<Vec<_>>().join("\n") + ends;
        } else {
            if !settings.is_empty() && !settings.ends_with('\n') {
                settings.push('\n');
            }
            settings.push_str(&line);
            settings.push('\n');
        }
    }
}

/// Merges maps field by field; replaces all other values.
fn merge(into: &mut Value, value: &Value) {
    match (into, value) {
        (Value::Object(into), Value::Object(fields)) => {
            for (field, value) in fields {
                merge(into.entry(field.clone()).or_insert(Value::Null), value);
            }
        }
        (into, value) => into.clone_from(value),
    }
}
