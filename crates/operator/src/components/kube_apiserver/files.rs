//! ConfigMaps and Secrets with the files of kube-apiserver, whose names contain checksums of their data.

use std::collections::BTreeMap;

use api::operator::kube_apiserver::VirtualApiServerConfig;
use secrets::SecretData;
use serde_json::Value;

use super::secret_requests::ENCRYPTION_KEY;
use super::{NAME, authorization, labels, plugins};
use crate::components::api_server::admission::AdmissionSetup;
use crate::components::api_server::audit::{self, AuditSetup};
use crate::components::api_server::encryption::{self, EncryptionKeys};
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
pub(super) struct ServerFiles {
    pub(super) admission: AdmissionSetup,
    pub(super) audit: AuditSetup,
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

impl ServerFiles {
    pub(super) fn render(
        values: &GardenValues<'_>,
        config: &VirtualApiServerConfig,
    ) -> Result<Self, RenderError> {
        let audit =
            AuditSetup::read(config.audit_config.as_ref(), config.audit_webhook.as_ref(), values.referenced)?;
        let admission = plugins::setup(&config.admission_plugins, values.referenced)?;
        let none = BTreeMap::new();
        let secret = |prefix: &str, data: &SecretData| unique::secret(prefix, &none, data);
        let kubeconfig = |prefix: &str, text: &[u8]| secret(prefix, &audit::kubeconfig_data(text));
        let authorization = authorization::kubeconfig(values)?;
        let oidc = config.oidc_config.as_ref().and_then(|oidc| oidc.ca_bundle.as_deref());
        let sink = audit.kubeconfig_data();
        Ok(Self {
            encryption_configuration: encryption_configuration(values)?,
            oidc_authority: oidc.map(|bundle| {
                secret("kube-apiserver-oidc-cabundle", &SecretData::from([("ca.crt", bundle)]))
            }),
            authentication_kubeconfig: authentication(values, config)?
                .map(|text| kubeconfig("kube-apiserver-authentication-webhook-kubeconfig", text)),
            authorization_kubeconfig: authorization
                .map(|text| kubeconfig("kube-apiserver-authorization-webhook-kubeconfig", &text)),
            admission_configuration: unique::config_map(
                "kube-apiserver-admission-config",
                &none,
                &admission.configuration_data()?,
            ),
            admission_kubeconfigs: secret(
                "kube-apiserver-admission-kubeconfigs",
                &admission.kubeconfig_data(),
            ),
            audit_policy: unique::config_map("audit-policy-config", &none, &audit.policy_data()),
            audit_kubeconfig: sink.map(|data| secret("kube-apiserver-audit-webhook-kubeconfig", &data)),
            watchdog: has_watchdog(values)?.then(|| {
                unique::config_map(
                    "kube-apiserver-watchdog",
                    &labels(),
                    &entries([("watchdog.sh", WATCHDOG_SCRIPT)]),
                )
            }),
            admission,
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

/// OPC-097, OPC-098.
fn encryption_configuration(values: &GardenValues<'_>) -> Result<Value, RenderError> {
    let keys = EncryptionKeys::generated(values.secrets.all(ENCRYPTION_KEY)?);
    let data = keys.configuration_data(&ENCRYPTED, encryption::uses_current_key(values, NAME));
    let labels = entries([("role", ENCRYPTION_CONFIGURATION)]);
    Ok(unique::secret(ENCRYPTION_CONFIGURATION, &labels, &data))
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
