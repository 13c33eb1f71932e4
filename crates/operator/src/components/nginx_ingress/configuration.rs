//! The configuration of nginx-ingress.

use std::collections::BTreeMap;

use serde_json::{Number, Value};

use super::{CONTROLLER, controller_labels};
use crate::components::error::RenderError;
use crate::components::objects::entries;
use crate::components::unique;
use crate::components::values::GardenValues;

const DEFAULTS: [(&str, &str); 5] = [
    ("allow-snippet-annotations", "false"),
    ("enable-vts-status", "false"),
    ("server-name-hash-bucket-size", "256"),
    ("use-proxy-protocol", "false"),
    ("worker-processes", "2"),
];

/// The ConfigMap: defaults, and what the Garden says instead of them or beside them. OPC-034.
pub(super) fn config_map(values: &GardenValues<'_>) -> Result<Value, RenderError> {
    let configured = &values.garden.spec.runtime_cluster.ingress.controller.provider_config;
    let mut data = entries(DEFAULTS);
    match configured {
        None | Some(Value::Null) => {}
        Some(Value::Object(fields)) => {
            data.extend(fields.iter().map(|(key, value)| (key.clone(), printed(value))));
        }
        Some(other) => return Err(RenderError::IngressConfig(other.to_string())),
    }
    Ok(unique::config_map(CONTROLLER, &controller_labels(), &data))
}

/// A value as Go prints it, but for numbers: nginx does not understand them in Go's form, such as `1.048576e+06`.
fn printed(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => printed_number(number),
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(printed).collect();
            format!("[{}]", items.join(" "))
        }
        Value::Object(fields) => {
            let sorted: BTreeMap<&String, String> =
                fields.iter().map(|(key, value)| (key, printed(value))).collect();
            let fields: Vec<String> = sorted.iter().map(|(key, value)| format!("{key}:{value}")).collect();
            format!("map[{}]", fields.join(" "))
        }
    }
}

fn printed_number(number: &Number) -> String {
    let is_integer = number.is_i64() || number.is_u64();
    let fraction = number.as_f64().filter(|_| !is_integer);
    fraction.map_or_else(|| number.to_string(), |fraction| fraction.to_string())
}
