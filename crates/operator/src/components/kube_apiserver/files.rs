//! ConfigMaps and Secrets with the files of kube-apiserver, whose names contain checksums of their data.

use std::collections::BTreeMap;

use api::garden::shoot::api_server::AdmissionPlugin;
use api::operator::kube_apiserver::VirtualApiServerConfig;
use secrets::SecretData;
use serde_json::Value;

use super::secret_requests::ENCRYPTION_KEY;
use super::{NAME, authorization, labels, plugins};
use crate::components::api_server::admission::PluginSettings;
use crate::components::api_server::audit::{AuditSettings, KUBECONFIG_KEY};
use crate::components::api_server::encryption;
use crate::components::error::RenderError;
use crate::components::objects::entries;
use crate::components::rendering::DirectStep;
use crate::components::unique;
use crate::components::values::GardenValues;

/// Begin of the name of the Secret with the encryption configuration, and its role.
const ENCRYPTION_CONFIGURATION: &str = "kube-apiserver-etcd-encryption-configuration";
/// What is encrypted.
const ENCRYPTED: [&str; 1] = ["secrets"];
const WATCHDOG_SCRIPT: &str = include_str!("watchdog.sh");

/// The files, and what decides about them.
#[derive(Clone, Debug)]
pub(super) struct ServerFiles<'a> {
    pub(super) plugins: PluginSettings<'a>,
    pub(super) audit: AuditSettings<'a>,
    pub(super) encryption_configuration: Value,
    pub(super) oidc_authority: Option<Value>,
    pub(super) authentication_kubeconfig: Option<Value>,
    pub(super) authorization_kubeconfig: Option<Value>,
    pub(super) admission_configuration: Value,
    pub(super) admission_kubeconfigs: Value,
    pub(super) audit_policy: Value,
    pub(super) audit_kubeconfig: Option<Value>,
    pub(super) watchdog: Option<Value>,
}

impl<'a> ServerFiles<'a> {
    /// `configured` are the plugins that [`plugins::configured`] has returned.
    pub(super) fn render(
        values: &GardenValues<'a>,
        config: &'a VirtualApiServerConfig,
        configured: &'a [AdmissionPlugin],
    ) -> Result<Self, RenderError> {
        let (policy, webhook) = (config.audit_config.as_ref(), config.audit_webhook.as_ref());
        let audit = AuditSettings::new(policy, webhook, values.referenced)?;
        let plugins = PluginSettings::new(&plugins::DEFAULTS, configured, values.referenced)?;
        let oidc = config.oidc_config.as_ref().and_then(|oidc| oidc.ca_bundle.as_deref());
        let authentication = authentication(values, config)?;
        let authorization = authorization::kubeconfig(values)?;
        Ok(Self {
            encryption_configuration: encryption_configuration(values)?,
            oidc_authority: oidc
                .map(|bundle| file("kube-apiserver-oidc-cabundle", "ca.crt", bundle.as_bytes())),
            authentication_kubeconfig: authentication.map(|kubeconfig| {
                file("kube-apiserver-authentication-webhook-kubeconfig", KUBECONFIG_KEY, kubeconfig)
            }),
            authorization_kubeconfig: authorization.map(|kubeconfig| {
                file("kube-apiserver-authorization-webhook-kubeconfig", KUBECONFIG_KEY, &kubeconfig)
            }),
            admission_configuration: plugins.config_map("kube-apiserver-admission-config")?,
            admission_kubeconfigs: plugins.kubeconfigs("kube-apiserver-admission-kubeconfigs"),
            audit_policy: audit.policy_config_map("audit-policy-config")?,
            audit_kubeconfig: audit.webhook_secret("kube-apiserver-audit-webhook-kubeconfig"),
            watchdog: has_watchdog(values)?.then(watchdog),
            plugins,
            audit,
        })
    }

    /// What is written before the Deployment, except the watchdog's script. OPC-012.
    pub(super) fn steps(&self) -> Vec<DirectStep> {
        let mut steps = vec![DirectStep::CreateOrLabel(self.encryption_configuration.clone())];
        let objects = [
            self.oidc_authority.as_ref(),
            self.authentication_kubeconfig.as_ref(),
            self.authorization_kubeconfig.as_ref(),
            Some(&self.admission_configuration),
            Some(&self.admission_kubeconfigs),
            Some(&self.audit_policy),
            self.audit_kubeconfig.as_ref(),
        ];
        steps.extend(objects.into_iter().flatten().cloned().map(DirectStep::Create));
        steps
    }
}

/// Kubernetes 1.24 may hang when it ends: it gets a container that watches it, and a flag. OPC-100.
pub(super) fn has_watchdog(values: &GardenValues<'_>) -> Result<bool, RenderError> {
    let version = values.target_version()?;
    Ok((version.major, version.minor) == (1, 24))
}

fn watchdog() -> Value {
    unique::config_map("kube-apiserver-watchdog", &labels(), &entries([("watchdog.sh", WATCHDOG_SCRIPT)]))
}

/// A Secret with one file.
fn file(prefix: &str, key: &str, content: &[u8]) -> Value {
    unique::secret(prefix, &BTreeMap::new(), &SecretData::from([(key, content)]))
}

/// OPC-097, OPC-098.
fn encryption_configuration(values: &GardenValues<'_>) -> Result<Value, RenderError> {
    let keys = values.secrets.all(ENCRYPTION_KEY)?;
    let uses_current_key = encryption::uses_current_key(values, NAME);
    encryption::secret(ENCRYPTION_CONFIGURATION, &ENCRYPTED, keys, uses_current_key)
}

/// The kubeconfig of the webhook that authenticates. OPC-089. The original calls it one for an audit webhook when it is missing.
fn authentication<'a>(
    values: &GardenValues<'a>,
    config: &VirtualApiServerConfig,
) -> Result<Option<&'a [u8]>, RenderError> {
    let webhook = config.authentication.as_ref().and_then(|of| of.webhook.as_ref());
    let name = webhook.map(|webhook| webhook.kubeconfig_secret_name.as_str());
    name.map(|name| values.referenced.kubeconfig(name, "authentication webhook")).transpose()
}
