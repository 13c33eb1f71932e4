//! Fills in what a configuration file leaves out.

use controller::config::Server;

use super::{AdmissionControllerConfiguration, RBAC_GROUP};

const WEBHOOKS_PORT: i64 = 2721;
const PROBES_PORT: i64 = 2722;
const METRICS_PORT: i64 = 2723;

/// Fills in defaults; a zero and an empty text count as missing. ADM-CFG-001 to -004.
pub fn set(config: &mut AdmissionControllerConfiguration) {
    let garden = &mut config.garden_client_connection;
    if garden.qps == 0.0 {
        garden.qps = 50.0;
    }
    if garden.burst == 0 {
        garden.burst = 100;
    }
    for (field, text) in [(&mut config.log_level, "info"), (&mut config.log_format, "json")] {
        if field.is_empty() {
            text.clone_into(field);
        }
    }
    let server = &mut config.server;
    if server.webhooks.port == 0 {
        server.webhooks.port = WEBHOOKS_PORT;
    }
    default_port(&mut server.health_probes, PROBES_PORT);
    default_port(&mut server.metrics, METRICS_PORT);
    for subject in &mut server.resource_admission_configuration.get_or_insert_default().unrestricted_subjects
    {
        if subject.api_group.is_empty() && ["User", "Group"].contains(&subject.kind.as_str()) {
            RBAC_GROUP.clone_into(&mut subject.api_group);
        }
    }
}

fn default_port(server: &mut Option<Server>, port: i64) {
    let server = server.get_or_insert_default();
    if server.port == 0 {
        server.port = port;
    }
}
