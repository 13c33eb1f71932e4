//! gardener-admission-controller.

mod config;
#[cfg(test)]
mod tests;
mod webhooks;

use api::operator::Garden;
use api::operator::gardener::GardenerAdmissionControllerConfig;
use secrets::AuthorityChoice;
use serde_json::{Value, json};

use super::NAMESPACE;
use super::error::RenderError;
use super::gardener_program::{GardenerProgram, ProgramParts};
use super::generated::{CA_GARDENER, RequestedSecret, service_names};
use super::networks::AllowedPods;
use super::objects::{annotate, secret_volume, service, service_port};
use super::rbac::{READ, account, cluster_role, cluster_role_binding, rule};
use super::rendering::Rendering;
use super::topology;
use super::values::GardenValues;

/// Name of its Deployment and its Service.
pub const NAME: &str = "gardener-admission-controller";

const CERTIFICATE: &str = "gardener-admission-controller-cert";
/// Where its certificate is mounted.
const CERTIFICATE_PATH: &str = "/etc/gardener-admission-controller/srv";
const ROLE: &str = "gardener.cloud:system:admission-controller";
const ROLE_BINDING: &str = "gardener.cloud:admission-controller";
const SERVER_PORT: u16 = 2719;
const PROBE_PORT: u16 = 2722;
const METRICS_PORT: u16 = 2723;
const PROGRAM: GardenerProgram = GardenerProgram {
    name: NAME,
    role: "admission-controller",
    availability: "server",
    priority: "gardener-garden-system-400",
    resources: ["100m", "200Mi"],
    autoscaler: [NAME, "25Mi"],
    config: [NAME, "config.yaml"],
    probe_port: PROBE_PORT,
    liveness_delay: 15,
};

/// What it needs from the secrets manager: a certificate, which the current authority signs. OPC-123.
#[must_use]
pub fn requests(_garden: &Garden) -> Vec<RequestedSecret> {
    let names = service_names(NAME, NAMESPACE);
    vec![RequestedSecret::server(CERTIFICATE, NAME, names, CA_GARDENER, AuthorityChoice::Current)]
}

/// Its objects. OPC-121 to -123.
///
/// # Errors
/// If something is missing that was to be generated, or in the image vector.
pub fn render(values: &GardenValues<'_>) -> Result<Rendering, RenderError> {
    let labels = PROGRAM.labels();
    let settings = settings(values);
    let certificate = secret_volume(CERTIFICATE, values.secrets.name(CERTIFICATE)?);
    let mount = json!({"name": CERTIFICATE, "mountPath": CERTIFICATE_PATH, "readOnly": true});
    let parts = ProgramParts {
        config: config::config(settings),
        service: its_service(values),
        volume: Some((certificate, mount)),
        in_virtual: vec![
            cluster_role(ROLE, &labels, &rules()),
            cluster_role_binding(ROLE_BINDING, &labels, ROLE, &[account(NAME)]),
            webhooks::configuration(values)?,
        ],
    };
    PROGRAM.render(values, parts)
}

fn settings<'a>(values: &GardenValues<'a>) -> Option<&'a GardenerAdmissionControllerConfig> {
    values.garden.spec.virtual_cluster.gardener.admission_controller.as_ref()
}

fn its_service(values: &GardenValues<'_>) -> Value {
    let ports =
        [service_port("https", 443, SERVER_PORT), service_port("metrics", METRICS_PORT, METRICS_PORT)];
    let mut service = service(NAME, &PROGRAM.labels(), &ports);
    annotate(&mut service, AllowedPods::WebhookTargets.annotation(&[SERVER_PORT]));
    topology::set_routing(&mut service, values);
    service
}

fn rules() -> Vec<Value> {
    let core = [
        "backupbuckets",
        "backupentries",
        "controllerinstallations",
        "secretbindings",
        "seeds",
        "shoots",
        "projects",
    ];
    vec![
        rule(&["core.gardener.cloud"], &core, READ),
        rule(&["seedmanagement.gardener.cloud"], &["managedseeds"], READ),
        rule(&["operations.gardener.cloud"], &["bastions"], READ),
        rule(&[""], &["configmaps"], &["get"]),
        rule(&[""], &["namespaces", "secrets", "serviceaccounts"], READ),
        rule(&["coordination.k8s.io"], &["leases"], READ),
        rule(&["certificates.k8s.io"], &["certificatesigningrequests"], READ),
    ]
}
