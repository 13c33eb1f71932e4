//! What an API server records of its requests, and where it sends that.

use std::collections::BTreeMap;

use api::garden::shoot::api_server::AuditConfig;
use api::operator::kube_apiserver::AuditWebhook;
use formats::yaml;
use secrets::SecretData;
use serde_json::{Value, json};

use super::{PodParts, mount};
use crate::components::error::RenderError;
use crate::components::objects::{config_map_volume, secret_volume};
use crate::components::rendering::name_of;
use crate::components::unique;
use crate::components::values::ReferencedObjects;

const POLICY_KEY: &str = "audit-policy.yaml";
const POLICY_PATH: &str = "/etc/kubernetes/audit";
const POLICY_VOLUME: &str = "audit-policy-config";
/// Key of a webhook's kubeconfig.
pub const KUBECONFIG_KEY: &str = "kubeconfig.yaml";
const WEBHOOK_PATH: &str = "/etc/kubernetes/webhook/audit";
const WEBHOOK_VOLUME: &str = "audit-webhook-kubeconfig";

/// A Garden's settings with what they refer to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AuditSettings<'a> {
    policy: Option<&'a str>,
    webhook: Option<(&'a AuditWebhook, &'a [u8])>,
}

impl<'a> AuditSettings<'a> {
    /// A webhook counts only together with a policy, but its kubeconfig must be there in any case. OPC-087.
    ///
    /// # Errors
    /// If a ConfigMap or Secret that the Garden refers to is missing or has not what it must have.
    pub fn new(
        config: Option<&AuditConfig>,
        webhook: Option<&'a AuditWebhook>,
        referenced: &'a ReferencedObjects,
    ) -> Result<Self, RenderError> {
        let kubeconfig = |webhook: &'a AuditWebhook| {
            let kubeconfig = referenced.kubeconfig(&webhook.kubeconfig_secret_name, "audit webhook")?;
            Ok::<_, RenderError>((webhook, kubeconfig))
        };
        let webhook = webhook.map(kubeconfig).transpose()?;
        let policy = config.and_then(|config| config.audit_policy.as_ref());
        let Some(reference) = policy.and_then(|policy| policy.config_map_ref.as_ref()) else {
            return Ok(Self::default());
        };
        let policy = referenced.audit_policy(reference.name.as_deref().unwrap_or_default())?;
        Ok(Self { policy: Some(policy), webhook })
    }

    /// The ConfigMap with the policy: by default, nothing is recorded. OPC-086.
    ///
    /// # Errors
    /// Never for the default policy.
    pub fn policy_config_map(self, prefix: &str) -> Result<Value, RenderError> {
        let policy = match self.policy {
            Some(policy) => policy.to_owned(),
            None => yaml::to_string(&json!({
                "apiVersion": "audit.k8s.io/v1",
                "kind": "Policy",
                "metadata": {"creationTimestamp": null},
                "rules": [{"level": "None"}],
            }))
            .map_err(RenderError::yaml(POLICY_KEY))?,
        };
        let data = BTreeMap::from([(POLICY_KEY.to_owned(), policy)]);
        Ok(unique::config_map(prefix, &BTreeMap::new(), &data))
    }

    /// The Secret with the webhook's kubeconfig, if there is a webhook.
    #[must_use]
    pub fn webhook_secret(self, prefix: &str) -> Option<Value> {
        let (_, kubeconfig) = self.webhook?;
        let data = SecretData::from([(KUBECONFIG_KEY, kubeconfig)]);
        Some(unique::secret(prefix, &BTreeMap::new(), &data))
    }

    /// Arguments and volumes. Without a webhook, a file is written. OPC-088.
    #[must_use]
    pub fn parts(self, policy: &Value, webhook: Option<&Value>) -> PodParts {
        let mut parts = PodParts {
            arguments: vec![format!("--audit-policy-file={POLICY_PATH}/{POLICY_KEY}")],
            volumes: vec![(
                config_map_volume(POLICY_VOLUME, name_of(policy)),
                mount(POLICY_VOLUME, POLICY_PATH, false),
            )],
        };
        let (Some((settings, _)), Some(secret)) = (self.webhook, webhook) else {
            let file = [
                "--audit-log-path=/tmp/audit/audit.log",
                "--audit-log-maxsize=100",
                "--audit-log-maxbackup=5",
            ];
            parts.arguments.extend(file.map(str::to_owned));
            return parts;
        };
        parts.arguments.push(format!("--audit-webhook-config-file={WEBHOOK_PATH}/{KUBECONFIG_KEY}"));
        let batch = settings.batch_max_size.map(|size| format!("--audit-webhook-batch-max-size={size}"));
        let version = settings.version.as_ref().map(|version| format!("--audit-webhook-version={version}"));
        parts.arguments.extend(batch.into_iter().chain(version));
        let volume = secret_volume(WEBHOOK_VOLUME, name_of(secret));
        parts.volumes.push((volume, mount(WEBHOOK_VOLUME, WEBHOOK_PATH, true)));
        parts
    }
}
