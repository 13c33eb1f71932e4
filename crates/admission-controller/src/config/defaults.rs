//! Fills in what a configuration file leaves out.

use controller::config::defaults::{set_log, set_number};

use super::{AdmissionControllerConfiguration, RBAC_GROUP};

const WEBHOOKS_PORT: i64 = 2721;
const PROBES_PORT: i64 = 2722;
const METRICS_PORT: i64 = 2723;

/// Fills in defaults; a zero and an empty text count as missing. ADM-CFG-001 to -004.
pub fn set(config: &mut AdmissionControllerConfiguration) {
    set_log(&mut config.log_level, &mut config.log_format);
    config.garden_client_connection.set_defaults();
    let server = &mut config.server;
    set_number(&mut server.webhooks.port, WEBHOOKS_PORT);
    server.health_probes.get_or_insert_default().set_port(PROBES_PORT);
    server.metrics.get_or_insert_default().set_port(METRICS_PORT);
    for subject in &mut server.resource_admission_configuration.get_or_insert_default().unrestricted_subjects
    {
        if subject.api_group.is_empty() && ["User", "Group"].contains(&subject.kind.as_str()) {
            RBAC_GROUP.clone_into(&mut subject.api_group);
        }
    }
}
