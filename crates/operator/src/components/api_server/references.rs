//! What a Garden refers to by name in the namespace of its control plane: kubeconfigs and audit policies.

use std::collections::BTreeMap;

use api::garden::shoot::api_server::{AdmissionPlugin, AuditConfig};
use api::operator::kube_apiserver::AuditWebhook;
use secrets::SecretData;

use super::admission::{EnabledPlugin, PluginConfig};
use super::audit::{AuditSetup, AuditSink};

/// The key of kubeconfigs.
const KUBECONFIG: &str = "kubeconfig";
/// The key of audit policies.
const POLICY: &str = "policy";
/// The namespace.
const NAMESPACE: &str = "garden";

/// Secrets and ConfigMaps of the namespace `garden` that a Garden refers to, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReferencedData {
    /// Data of Secrets.
    pub secrets: BTreeMap<String, SecretData>,
    /// Data of ConfigMaps.
    pub config_maps: BTreeMap<String, BTreeMap<String, String>>,
}

/// A Secret that no request was answered with.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("secret {0:?} not found")]
pub struct MissingSecretError(pub String);

/// Why something that a Garden refers to cannot be used. OPC-140.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReferenceFault {
    /// There is no such Secret, or it has no kubeconfig.
    #[error("failed reading kubeconfig for {user} from referenced secret {NAMESPACE}/{name}: {reason}")]
    Kubeconfig {
        /// Who needs it: `audit webhook`.
        user: &'static str,
        /// The Secret.
        name: String,
        /// What is wrong.
        reason: String,
    },
    /// There is no such ConfigMap.
    #[error("retrieving audit policy from the ConfigMap {NAMESPACE}/{0} failed: configmaps {0:?} not found")]
    NoPolicy(String),
    /// It has no policy.
    #[error("missing '.data.policy' in audit policy ConfigMap {NAMESPACE}/{0}")]
    EmptyPolicy(String),
}

impl ReferencedData {
    /// The kubeconfig in a Secret.
    ///
    /// # Errors
    /// If there is no such Secret, or it has no kubeconfig.
    pub fn kubeconfig(&self, user: &'static str, name: &str) -> Result<Vec<u8>, ReferenceFault> {
        let fault = |reason: String| ReferenceFault::Kubeconfig { user, name: name.to_owned(), reason };
        let data = self.secrets.get(name).ok_or_else(|| fault(format!("secrets {name:?} not found")))?;
        let kubeconfig = data.get(KUBECONFIG);
        if kubeconfig.is_empty() {
            return Err(fault("the secret's field 'kubeconfig' is either not present or empty".to_owned()));
        }
        Ok(kubeconfig.to_owned())
    }

    /// The audit policy of an API server, and its webhook, whose kubeconfig must be there even where it has no effect. OPC-087.
    ///
    /// # Errors
    /// If the policy or the kubeconfig is not there.
    pub fn audit(
        &self,
        config: Option<&AuditConfig>,
        webhook: Option<&AuditWebhook>,
    ) -> Result<AuditSetup, ReferenceFault> {
        let sink = webhook.map(|webhook| {
            Ok::<_, ReferenceFault>(AuditSink {
                kubeconfig: self.kubeconfig("audit webhook", &webhook.kubeconfig_secret_name)?,
                batch_max_size: webhook.batch_max_size,
                version: webhook.version.clone(),
            })
        });
        let webhook = sink.transpose()?;
        let reference = config.and_then(|config| config.audit_policy.as_ref()?.config_map_ref.as_ref());
        let name = reference.map(|reference| reference.name.as_deref().unwrap_or_default());
        let policy = name.map(|name| self.policy(name)).transpose()?;
        Ok(AuditSetup { policy, webhook })
    }

    /// Plugins with the kubeconfigs that they use.
    ///
    /// # Errors
    /// If a kubeconfig is not there.
    pub fn plugins(&self, plugins: &[AdmissionPlugin]) -> Result<Vec<EnabledPlugin>, ReferenceFault> {
        let complete = plugins.iter().map(|plugin| {
            let secret = plugin.kubeconfig_secret_name.as_deref();
            Ok(EnabledPlugin {
                name: plugin.name.clone(),
                config: plugin.config.clone().map(PluginConfig::Given),
                kubeconfig: secret.map(|name| self.kubeconfig("admission plugin", name)).transpose()?,
            })
        });
        complete.collect()
    }

    fn policy(&self, name: &str) -> Result<String, ReferenceFault> {
        let data = self.config_maps.get(name).ok_or_else(|| ReferenceFault::NoPolicy(name.to_owned()))?;
        data.get(POLICY).cloned().ok_or_else(|| ReferenceFault::EmptyPolicy(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use api::garden::reference::ObjectReference;
    use api::garden::shoot::api_server::AuditPolicy;
    use rstest::rstest;

    use super::*;

    fn referenced() -> ReferencedData {
        let secrets =
            [("filled", SecretData::from([("kubeconfig", "k")])), ("empty", SecretData::from([("a", "k")]))];
        let policy = BTreeMap::from([("policy".to_owned(), "p".to_owned())]);
        let config_maps = [("filled", policy), ("empty", BTreeMap::new())];
        ReferencedData {
            secrets: secrets.map(|(name, data)| (name.to_owned(), data)).into(),
            config_maps: config_maps.map(|(name, data)| (name.to_owned(), data)).into(),
        }
    }

    fn policy(name: &str) -> AuditConfig {
        let config_map_ref = ObjectReference { name: Some(name.to_owned()), ..ObjectReference::default() };
        let audit_policy = AuditPolicy { config_map_ref: Some(config_map_ref), ..AuditPolicy::default() };
        AuditConfig { audit_policy: Some(audit_policy), ..AuditConfig::default() }
    }

    fn webhook(name: &str) -> AuditWebhook {
        AuditWebhook { kubeconfig_secret_name: name.to_owned(), ..AuditWebhook::default() }
    }

    #[rstest]
    #[case(None, None, Ok((None, None)))]
    #[case(Some("filled"), None, Ok((Some("p"), None)))]
    #[case(Some("filled"), Some("filled"), Ok((Some("p"), Some("k"))))]
    #[case(None, Some("filled"), Ok((None, Some("k"))))]
    #[case(
        Some("none"),
        None,
        Err("retrieving audit policy from the ConfigMap garden/none failed: configmaps \"none\" not found")
    )]
    #[case(Some("empty"), None, Err("missing '.data.policy' in audit policy ConfigMap garden/empty"))]
    #[case(
        None,
        Some("none"),
        Err("failed reading kubeconfig for audit webhook from referenced secret garden/none: secrets \"none\" not found")
    )]
    #[case(
        None,
        Some("empty"),
        Err(
            "failed reading kubeconfig for audit webhook from referenced secret garden/empty: the secret's field 'kubeconfig' is \
             either not present or empty"
        )
    )]
    fn what_is_referred_to_must_be_there(
        #[case] config: Option<&str>,
        #[case] sink: Option<&str>,
        #[case] want: Result<(Option<&str>, Option<&str>), &str>,
    ) {
        let (config, sink) = (config.map(policy), sink.map(webhook));
        let setup = referenced().audit(config.as_ref(), sink.as_ref()).map_err(|error| error.to_string());
        let want = want.map_err(str::to_owned).map(|(policy, kubeconfig)| AuditSetup {
            policy: policy.map(str::to_owned),
            webhook: kubeconfig
                .map(|text| AuditSink { kubeconfig: text.as_bytes().to_vec(), ..AuditSink::default() }),
        });
        assert_eq!(setup, want);
    }
}
