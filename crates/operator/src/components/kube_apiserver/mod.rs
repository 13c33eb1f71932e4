//! kube-apiserver of the virtual cluster: its Deployment, what scales it, and its files.
//!
//! [`requests`] says what the secrets manager must generate, then [`render`] what must be written. The certificate
//! authorities, the client certificate for etcd and both Etcds come before.

mod arguments;
mod authorization;
mod autoscaling;
mod deployment;
mod files;
mod issuers;
mod parts;
mod plugins;
mod secret_requests;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::time::Duration;

use api::operator::Garden;
use api::operator::kube_apiserver::VirtualApiServerConfig;

use super::error::RenderError;
use super::lifecycle::{AwaitedState, Lifecycle, ObjectWait, RemovalStep};
use super::networks::VIRTUAL_API_SERVER;
use super::objects::{entries, pod_disruption_budget};
use super::references;
use super::rendering::{DirectStep, ObjectName, Rendering};
use super::values::GardenValues;

pub use self::secret_requests::{
    ENCRYPTION_KEY, KUBE_AGGREGATOR, SERVER_CERTIFICATE, SERVICE_ACCOUNT_KEY, STATIC_TOKEN, requests,
};

/// The name of most of its objects.
pub const NAME: &str = VIRTUAL_API_SERVER;
/// The container.
const CONTAINER: &str = "kube-apiserver";
/// Deployments of other clusters had these for their VPN; the original deletes them each time.
const VPN_ROLE: &str = "kube-apiserver-vpn-client-init";

/// The ManagedResource that control planes of Shoots with nodes have.
const MANAGED_ELSEWHERE: &str = "shoot-core-kube-apiserver";
/// How many lines of a Pod's log tell why it does not become ready.
const LOG_LINES: u32 = 10;

/// Labels of its Pods by which they are selected.
#[must_use]
pub fn labels() -> BTreeMap<String, String> {
    entries([("app", "kubernetes"), ("role", "apiserver")])
}

/// The names under which it is reached from outside: two for each domain, in the order of domains. OPC-070, OPC-083.
#[must_use]
pub fn domains(garden: &Garden) -> Vec<String> {
    let domains = garden.spec.virtual_cluster.dns.domains.iter();
    domains.flat_map(|domain| [format!("api.{domain}"), format!("gardener.{domain}")]).collect()
}

/// What must be written, in the original's order. OPC-072 to -102 but what is about waiting and deletion.
///
/// # Errors
/// If something that a Garden refers to is not there, a plugin's configuration is none, a Secret was not generated, or there is no
/// image.
pub fn render(values: &GardenValues<'_>) -> Result<Rendering, RenderError> {
    let absent = VirtualApiServerConfig::default();
    let config = values.garden.spec.virtual_cluster.kubernetes.kube_api_server.as_ref().unwrap_or(&absent);
    let configured = plugins::configured(&config.admission_plugins)?;
    let files = files::ServerFiles::render(values, config, &configured)?;
    let mut steps = vec![DirectStep::Patch(pod_disruption_budget(NAME, &labels()))];
    steps.extend(autoscaling::steps(values));
    steps.extend(files.steps());
    steps.extend(of_vpn().map(DirectStep::Delete));
    steps.extend(files.watchdog.clone().map(DirectStep::Create));
    let mut deployment = deployment::deployment(values, config, &files)?;
    references::annotate(&mut deployment);
    steps.push(DirectStep::Patch(deployment));
    Ok(Rendering { steps, ..Rendering::default() })
}

/// How it is awaited and taken down. ConfigMaps and Secrets with unique names are left to the garbage collector. OPC-101, OPC-102.
#[must_use]
pub fn lifecycle() -> Lifecycle {
    let within = Duration::from_mins(5);
    let wait = |state| vec![ObjectWait::deployment(NAME, state, within)];
    let mut removal = vec![RemovalStep::ManagedAlone(MANAGED_ELSEWHERE.to_owned())];
    removal.extend(autoscaling::removal());
    removal.push(RemovalStep::object("policy/v1", "PodDisruptionBudget", NAME));
    removal.push(RemovalStep::object("apps/v1", "Deployment", NAME));
    removal.extend(of_vpn().map(RemovalStep::Object));
    Lifecycle {
        ready: wait(AwaitedState::RolledOutOrLogs(LOG_LINES)),
        removal,
        gone: wait(AwaitedState::Gone),
        ..Lifecycle::default()
    }
}

/// What a Garden does not have.
fn of_vpn() -> [ObjectName; 3] {
    let rbac = "rbac.authorization.k8s.io/v1";
    [("v1", "ServiceAccount", NAME), (rbac, "Role", VPN_ROLE), (rbac, "RoleBinding", VPN_ROLE)]
        .map(|(version, kind, name)| ObjectName::in_garden(version, kind, name))
}
