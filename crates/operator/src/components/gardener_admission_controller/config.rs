//! The configuration of gardener-admission-controller.

use api::garden::Quantity;
use api::operator::gardener::{
    GardenerAdmissionControllerConfig, ResourceAdmissionConfiguration, ResourceLimit,
};
use formats::quantity;
use serde_json::{Value, json};

use super::{CERTIFICATE_PATH, METRICS_PORT, PROBE_PORT, SERVER_PORT};
use crate::components::gardener_program::{client_connection, server};

/// The configuration of a Garden's section.
pub(super) fn config(settings: Option<&GardenerAdmissionControllerConfig>) -> Value {
    let log_level = settings.and_then(|settings| settings.log_level.as_deref()).unwrap_or("info");
    let mut webhooks = server(SERVER_PORT);
    webhooks["tls"] = json!({"serverCertDir": CERTIFICATE_PATH});
    let mut config = json!({
        "apiVersion": "admissioncontroller.config.gardener.cloud/v1alpha1",
        "kind": "AdmissionControllerConfiguration",
        "gardenClientConnection": client_connection(),
        "logLevel": log_level,
        "logFormat": "json",
        "server": {
            "webhooks": webhooks,
            "healthProbes": server(PROBE_PORT),
            "metrics": server(METRICS_PORT),
        },
    });
    let sizes = settings.and_then(|settings| settings.resource_admission_configuration.as_ref());
    if let Some(sizes) = sizes {
        config["server"]["resourceAdmissionConfiguration"] = written(sizes);
    }
    config
}

/// The largest sizes of objects, with quantities in their canonical form.
fn written(sizes: &ResourceAdmissionConfiguration) -> Value {
    let ResourceAdmissionConfiguration { limits, unrestricted_subjects, operation_mode, .. } = sizes;
    let limits: Vec<Value> = limits.iter().map(limit).collect();
    let mut sizes = json!({ "limits": limits });
    if !unrestricted_subjects.is_empty() {
        sizes["unrestrictedSubjects"] = json!(unrestricted_subjects);
    }
    if let Some(mode) = operation_mode {
        sizes["operationMode"] = json!(mode);
    }
    sizes
}

fn limit(limit: &ResourceLimit) -> Value {
    let ResourceLimit { api_groups, api_versions, resources, size: Quantity(size), .. } = limit;
    let size = quantity::Quantity::parse(size).map_or_else(|_| size.clone(), |size| size.to_string());
    let mut written = json!({ "resources": resources, "size": size });
    for (field, list) in [("apiGroups", api_groups), ("apiVersions", api_versions)] {
        if !list.is_empty() {
            written[field] = json!(list);
        }
    }
    written
}
