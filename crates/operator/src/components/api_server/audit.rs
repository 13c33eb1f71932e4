//! The audit policy of an API server, and where audit events go.

use std::collections::BTreeMap;

use api::garden::shoot::api_server::AuditConfig;
use api::operator::kube_apiserver::AuditWebhook;
use secrets::SecretData;

use super::parts::ServerParts;
use crate::components::error::RenderError;
use crate::components::values::ReferencedObjects;

/// Key of a webhook's kubeconfig in the Secrets that API servers mount.
pub const KUBECONFIG_KEY: &str = "kubeconfig.yaml";
/// Key of the policy.
const POLICY_KEY: &str = "audit-policy.yaml";
const POLICY_FOLDER: &str = "/etc/kubernetes/audit";
const WEBHOOK_FOLDER: &str = "/etc/kubernetes/webhook/audit";
/// A policy with which nothing is audited, in the bytes of the original: they decide the ConfigMap's name.
const NOTHING: &str = "apiVersion: audit.k8s.io/v1\nkind: Policy\nmetadata:\n  creationTimestamp: null\nrules:\n- level: None\n";

/// What is audited, and where it is sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditSetup {
    /// The policy of the Garden; `None`: nothing is audited.
    pub policy: Option<String>,
    /// A webhook; of no effect without a policy of the Garden.
    pub webhook: Option<AuditSink>,
}

/// A webhook for audit events.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditSink {
    /// Its kubeconfig.
    pub kubeconfig: Vec<u8>,
    /// Number of events in one request.
    pub batch_max_size: Option<i32>,
    /// Version of the events.
    pub version: Option<String>,
}

impl AuditSetup {
    /// That of a Garden. The kubeconfig must be there even where the webhook has no effect. OPC-087, OPC-140.
    ///
    /// # Errors
    /// If the policy or the kubeconfig is not there.
    pub fn read(
        config: Option<&AuditConfig>,
        webhook: Option<&AuditWebhook>,
        referenced: &ReferencedObjects,
    ) -> Result<Self, RenderError> {
        let webhook = match webhook {
            None => None,
            Some(webhook) => Some(AuditSink {
                kubeconfig: referenced
                    .kubeconfig(&webhook.kubeconfig_secret_name, "audit webhook")?
                    .to_owned(),
                batch_max_size: webhook.batch_max_size,
                version: webhook.version.clone(),
            }),
        };
        let reference = config.and_then(|config| config.audit_policy.as_ref()?.config_map_ref.as_ref());
        let name = reference.map(|reference| reference.name.as_deref().unwrap_or_default());
        let policy = name.map(|name| referenced.audit_policy(name)).transpose()?;
        Ok(Self { policy: policy.map(str::to_owned), webhook })
    }

    /// The data of the ConfigMap, which there always is. OPC-086.
    #[must_use]
    pub fn policy_data(&self) -> BTreeMap<String, String> {
        BTreeMap::from([(POLICY_KEY.to_owned(), self.policy.as_deref().unwrap_or(NOTHING).to_owned())])
    }

    /// The webhook, where it has an effect. OPC-087.
    #[must_use]
    pub fn sink(&self) -> Option<&AuditSink> {
        self.webhook.as_ref().filter(|_| self.policy.is_some())
    }

    /// The data of the Secret with the webhook's kubeconfig.
    #[must_use]
    pub fn kubeconfig_data(&self) -> Option<SecretData> {
        self.sink().map(|sink| kubeconfig_data(&sink.kubeconfig))
    }

    /// Adds the policy from this ConfigMap, and the webhook with the kubeconfig of this Secret or a log. OPC-087, OPC-088.
    pub fn add(&self, parts: &mut ServerParts, policy_config_map: &str, kubeconfig_secret: Option<&str>) {
        parts.flag("audit-policy-file", format_args!("{POLICY_FOLDER}/{POLICY_KEY}"));
        parts.config_map("audit-policy-config", policy_config_map, POLICY_FOLDER);
        let Some(sink) = self.sink() else {
            parts.argument("--audit-log-path=/tmp/audit/audit.log");
            parts.argument("--audit-log-maxsize=100");
            parts.argument("--audit-log-maxbackup=5");
            return;
        };
        if let Some(secret) = kubeconfig_secret {
            parts.flag("audit-webhook-config-file", format_args!("{WEBHOOK_FOLDER}/{KUBECONFIG_KEY}"));
            parts.read_only_secret("audit-webhook-kubeconfig", secret, WEBHOOK_FOLDER);
        }
        parts.optional_flag("audit-webhook-batch-max-size", sink.batch_max_size);
        parts.optional_flag("audit-webhook-version", sink.version.as_ref());
    }
}

/// The data of a Secret with a webhook's kubeconfig.
#[must_use]
pub fn kubeconfig_data(kubeconfig: &[u8]) -> SecretData {
    SecretData::from([(KUBECONFIG_KEY, kubeconfig)])
}

#[cfg(test)]
mod tests {
    use api::garden::reference::ObjectReference;
    use api::garden::shoot::api_server::AuditPolicy;
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    const LOG: [&str; 4] = [
        "--audit-policy-file=/etc/kubernetes/audit/audit-policy.yaml",
        "--audit-log-path=/tmp/audit/audit.log",
        "--audit-log-maxsize=100",
        "--audit-log-maxbackup=5",
    ];

    fn sink(batch_max_size: Option<i32>, version: Option<&str>) -> Option<AuditSink> {
        Some(AuditSink { kubeconfig: b"k".to_vec(), batch_max_size, version: version.map(str::to_owned) })
    }

    #[rstest]
    #[case::nothing(None, None, &LOG)]
    #[case::a_policy(Some("p"), None, &LOG)]
    #[case::a_webhook_without_policy(None, sink(Some(30), None), &LOG)]
    #[case::a_webhook(
        Some("p"),
        sink(Some(30), Some("audit.k8s.io/v1")),
        &[
            LOG[0],
            "--audit-webhook-config-file=/etc/kubernetes/webhook/audit/kubeconfig.yaml",
            "--audit-webhook-batch-max-size=30",
            "--audit-webhook-version=audit.k8s.io/v1",
        ]
    )]
    #[case::a_webhook_without_settings(
        Some("p"),
        sink(None, None),
        &[LOG[0], "--audit-webhook-config-file=/etc/kubernetes/webhook/audit/kubeconfig.yaml"]
    )]
    fn events_go_to_a_webhook_or_a_log(
        #[case] policy: Option<&str>,
        #[case] webhook: Option<AuditSink>,
        #[case] want: &[&str],
    ) {
        let setup = AuditSetup { policy: policy.map(str::to_owned), webhook };
        let mut parts = ServerParts::default();
        setup.add(&mut parts, "audit-policy-config-1", setup.sink().map(|_| "audit-webhook-1"));
        assert_eq!(parts.arguments, want);
        assert_eq!(setup.kubeconfig_data().is_some(), want[1].starts_with("--audit-webhook"));
    }

    #[test]
    fn the_policy_of_the_garden_replaces_the_default() {
        let data = |policy: Option<&str>| {
            let setup = AuditSetup { policy: policy.map(str::to_owned), webhook: None };
            setup.policy_data().remove("audit-policy.yaml").unwrap()
        };
        assert_eq!(data(Some("kind: Policy")), "kind: Policy");
        let nothing = formats::yaml::first_document(data(None).as_bytes()).unwrap();
        assert_eq!(
            nothing,
            json!({
                "apiVersion": "audit.k8s.io/v1",
                "kind": "Policy",
                "metadata": { "creationTimestamp": null },
                "rules": [{ "level": "None" }],
            })
        );
    }

    fn referenced() -> ReferencedObjects {
        let secrets =
            [("filled", SecretData::from([("kubeconfig", "k")])), ("empty", SecretData::from([("a", "k")]))];
        let policy = BTreeMap::from([("policy".to_owned(), "p".to_owned())]);
        let config_maps = [("filled", policy), ("empty", BTreeMap::new())];
        ReferencedObjects {
            secrets: secrets.map(|(name, data)| (name.to_owned(), data)).into(),
            config_maps: config_maps.map(|(name, data)| (name.to_owned(), data)).into(),
        }
    }

    fn with_policy(name: &str) -> AuditConfig {
        let config_map_ref = ObjectReference { name: Some(name.to_owned()), ..ObjectReference::default() };
        let audit_policy = AuditPolicy { config_map_ref: Some(config_map_ref), ..AuditPolicy::default() };
        AuditConfig { audit_policy: Some(audit_policy), ..AuditConfig::default() }
    }

    fn with_webhook(name: &str) -> AuditWebhook {
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
        Err(
            "failed reading kubeconfig for audit webhook from referenced secret garden/none: secrets \"none\" not found"
        )
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
        #[case] policy: Option<&str>,
        #[case] webhook: Option<&str>,
        #[case] want: Result<(Option<&str>, Option<&str>), &str>,
    ) {
        let (config, webhook) = (policy.map(with_policy), webhook.map(with_webhook));
        let setup = AuditSetup::read(config.as_ref(), webhook.as_ref(), &referenced());
        let sink = |text: &str| AuditSink { kubeconfig: text.as_bytes().to_vec(), ..AuditSink::default() };
        let want = want.map(|(policy, kubeconfig)| AuditSetup {
            policy: policy.map(str::to_owned),
            webhook: kubeconfig.map(sink),
        });
        assert_eq!(setup.map_err(|error| error.to_string()), want.map_err(str::to_owned));
    }
}
