//! gardener-apiserver: Gardener's API, which the API server of the virtual cluster forwards to.

mod deployment;
mod runtime;
#[cfg(test)]
mod tests;
mod virtual_cluster;

use std::collections::BTreeMap;
use std::time::Duration;

use api::operator::Garden;
use api::operator::gardener::GardenerApiServerConfig;
use secrets::AuthorityChoice;

use super::access::{self, ACCOUNT_NAMESPACE};
use super::api_server::admission::PluginSettings;
use super::api_server::audit::AuditSettings;
use super::api_server::{ServerSettings, encryption};
use super::error::RenderError;
use super::generated::{CA_GARDENER, RequestedSecret, service_names};
use super::lifecycle::{Lifecycle, ManagedWait};
use super::managed::ManagedObjects;
use super::objects::entries;
use super::rendering::{DirectStep, Rendering};
use super::values::GardenValues;
use super::{NAMESPACE, values};

/// Name of the Deployment, its Service and its ServiceAccount.
pub const NAME: &str = "gardener-apiserver";
/// The ManagedResource of the runtime cluster.
pub const MANAGED_RUNTIME: &str = "gardener-apiserver-runtime";
/// The ManagedResource of the virtual cluster.
pub const MANAGED_VIRTUAL: &str = "gardener-apiserver-virtual";

const SERVER_CERTIFICATE: &str = "gardener-apiserver";
const ENCRYPTION_KEY: &str = "gardener-apiserver-etcd-encryption-key";
const ENCRYPTION_CONFIGURATION: &str = "gardener-apiserver-etcd-encryption-configuration";
const ADMISSION_CONFIG: &str = "gardener-apiserver-admission-config";
const ADMISSION_KUBECONFIGS: &str = "gardener-apiserver-admission-kubeconfigs";
const AUDIT_POLICY: &str = "gardener-apiserver-audit-policy-config";
const AUDIT_WEBHOOK: &str = "gardener-apiserver-audit-webhook-kubeconfig";
/// The port of its Services.
const SERVICE_PORT: u16 = 443;
/// The port of its container.
const PORT: u16 = 8443;
/// What is encrypted in etcd. OPC-114.
const ENCRYPTED: [&str; 4] = [
    "controllerdeployments.core.gardener.cloud",
    "controllerregistrations.core.gardener.cloud",
    "internalsecrets.core.gardener.cloud",
    "shootstates.core.gardener.cloud",
];

/// What it needs from the secrets manager: its certificate, for the Services of both clusters, and the key for etcd.
#[must_use]
pub fn requests(garden: &Garden) -> Vec<RequestedSecret> {
    let names = [NAMESPACE, ACCOUNT_NAMESPACE].map(|namespace| service_names(NAME, namespace));
    let choice = AuthorityChoice::ByKind;
    let server = RequestedSecret::server(SERVER_CERTIFICATE, NAME, names.concat(), CA_GARDENER, choice);
    let phase = values::encryption_key_phase(garden);
    vec![server, encryption::request(ENCRYPTION_KEY, phase)]
}

/// Its objects. Those of the virtual cluster follow once the Service of the runtime cluster has an address. OPC-114 to -119.
///
/// # Errors
/// If something is missing that was to be generated, that the Garden refers to, or in the image vector.
pub fn render(values: &GardenValues<'_>) -> Result<Rendering, RenderError> {
    let config = config(values);
    let plugins = config.map(|config| config.admission_plugins.as_slice()).unwrap_or_default();
    let plugins = PluginSettings::new(&[], plugins, values.referenced)?;
    let audit = AuditSettings::new(
        config.and_then(|config| config.audit_config.as_ref()),
        config.and_then(|config| config.audit_webhook.as_ref()),
        values.referenced,
    )?;
    let uses_current_key = encryption::uses_current_key(values, NAME);
    let keys = values.secrets.all(ENCRYPTION_KEY)?;
    let files = deployment::Files {
        encryption: encryption::secret(ENCRYPTION_CONFIGURATION, &ENCRYPTED, keys, uses_current_key)?,
        admission_config: plugins.config_map(ADMISSION_CONFIG)?,
        admission_kubeconfigs: plugins.kubeconfigs(ADMISSION_KUBECONFIGS),
        audit_policy: audit.policy_config_map(AUDIT_POLICY)?,
        audit_webhook: audit.webhook_secret(AUDIT_WEBHOOK),
    };
    let mut parts = super::api_server::common(
        settings(config),
        values.secrets,
        values.secrets.name(SERVER_CERTIFICATE)?,
    )?;
    parts.append(audit.parts(&files.audit_policy, files.audit_webhook.as_ref()));
    parts.append(plugins.parts(&files.admission_config, &files.admission_kubeconfigs));
    parts.append(encryption::parts(&files.encryption));
    let deployment = deployment::deployment(values, log_level(config), parts)?;
    let runtime = ManagedObjects::in_runtime(MANAGED_RUNTIME, runtime::objects(values, deployment));
    let address = values.observed.service_addresses.get(NAME);
    let in_virtual = address.map(|address| virtual_cluster::objects(values, address)).transpose()?;
    let in_virtual = in_virtual.map(|objects| ManagedObjects::in_virtual(MANAGED_VIRTUAL, objects));
    Ok(Rendering {
        steps: steps(files),
        managed: std::iter::once(runtime).chain(in_virtual).collect(),
        awaited_service: address.is_none().then_some(NAME),
    })
}

/// All its pods have the new certificate before the virtual cluster forgets the old authority. OPC-120.
#[must_use]
pub fn lifecycle() -> Lifecycle {
    let wait = |name: &str| ManagedWait::of(&[name], Duration::from_mins(5));
    Lifecycle {
        deployed: vec![wait(MANAGED_RUNTIME).rolled_out(), wait(MANAGED_VIRTUAL)],
        removed: vec![wait(MANAGED_VIRTUAL), wait(MANAGED_RUNTIME)],
        ..Lifecycle::of_client(NAME)
    }
}

/// Its labels, also those of its pods.
pub(super) fn labels() -> BTreeMap<String, String> {
    entries([("app", "gardener"), ("role", "apiserver")])
}

fn config<'a>(values: &GardenValues<'a>) -> Option<&'a GardenerApiServerConfig> {
    values.garden.spec.virtual_cluster.gardener.api_server.as_ref()
}

fn settings(config: Option<&GardenerApiServerConfig>) -> ServerSettings<'_> {
    ServerSettings {
        feature_gates: config.map(|config| &config.feature_gates),
        requests: config.and_then(|config| config.requests.as_ref()),
        logging: config.and_then(|config| config.logging.as_ref()),
        watch_cache_sizes: config.and_then(|config| config.watch_cache_sizes.as_ref()),
    }
}

/// OPC-117: `debug` above verbosity 2.
fn log_level(config: Option<&GardenerApiServerConfig>) -> &'static str {
    let logging = config.and_then(|config| config.logging.as_ref());
    let is_verbose = logging.and_then(|logging| logging.verbosity).is_some_and(|verbosity| verbosity > 2);
    if is_verbose { "debug" } else { "info" }
}

/// What the operator writes itself, in the original's order.
fn steps(files: deployment::Files) -> Vec<DirectStep> {
    let mut steps = vec![
        access::secret(NAME),
        DirectStep::CreateOrLabel(files.encryption),
        DirectStep::Create(files.admission_config),
        DirectStep::Create(files.admission_kubeconfigs),
        DirectStep::Create(files.audit_policy),
    ];
    steps.extend(files.audit_webhook.map(DirectStep::Create));
    steps
}
