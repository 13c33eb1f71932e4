//! The webhooks as a provider extension registers them: one MutatingWebhookConfiguration, a webhook per kind of provider.

use std::collections::BTreeMap;

use formats::selector::{LabelSelector, Operator, Requirement};
use webhook::registration::{
    ClientConfig, FailurePolicy, MatchPolicy, Phase, Registration, Rule, ServiceReference,
    WebhookConfiguration,
};

use crate::config::ControlPlaneWebhooksConfiguration;
use crate::serving::{Handled, handled};
use crate::webhooks::{controlplane, controlplanebackup, paths};

/// Label of objects that the webhook `controlplane` changes, from Gardener v1.98 on.
const MUTATED: &str = "provider.extensions.gardener.cloud/mutated-by-controlplane-webhook";

/// The address where an API server reaches the webhooks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// Through the extension's Service, in this namespace and on this port.
    Service {
        /// Namespace of the extension.
        namespace: String,
        /// Port of the Service.
        port: u16,
    },
    /// At a host and port, `172.18.0.1:9443`.
    Url(String),
}

impl Address {
    /// The Service of a provider's extension, where Gardener installs it.
    #[must_use]
    pub fn service_of(provider: &str) -> Self {
        Self::Service { namespace: format!("extension-provider-{provider}"), port: 443 }
    }
}

/// The configuration with the webhooks that are not disabled; `None` if all are disabled. CP-117 to -125,
/// CP-134, CP-135, CP-139, CP-140.
///
/// `ca_bundle` is a PEM bundle in base64.
#[must_use]
pub fn registration(
    config: &ControlPlaneWebhooksConfiguration,
    address: &Address,
    ca_bundle: Option<&str>,
) -> Option<WebhookConfiguration> {
    let name = format!("gardener-extension-provider-{}", config.provider);
    let webhooks =
        paths().into_iter().filter(|(webhook, _)| config.serves(webhook)).map(|(webhook, path)| {
            Registration {
                name: format!("{webhook}.{}.extensions.gardener.cloud", config.provider),
                client_config: client_config(&name, address, path, ca_bundle),
                rules: handled(webhook).iter().map(rule).collect(),
                namespace_selector: Some(provided_by(provider_label(webhook), &config.provider)),
                object_selector: (webhook == controlplane::NAME && config.is_labelled()).then(mutated),
                failure_policy: Some(FailurePolicy::Fail),
                match_policy: Some(MatchPolicy::Exact),
                side_effects: Some("None".to_owned()),
                timeout_seconds: Some(10),
                admission_review_versions: vec!["v1".to_owned(), "v1beta1".to_owned()],
                ..Registration::default()
            }
        });
    let webhooks: Vec<Registration> = webhooks.collect();
    (!webhooks.is_empty()).then(|| WebhookConfiguration {
        phase: Phase::Mutating,
        name: name.clone(),
        labels: BTreeMap::from([(api::gardener::REMEDIATION_EXCLUDE.to_owned(), "true".to_owned())]),
        webhooks,
    })
}

/// The label of a namespace that names the provider of its control plane. CP-002, CP-003, CP-008.
fn provider_label(webhook: &str) -> &'static str {
    match webhook {
        controlplane::NAME => "shoot.gardener.cloud/provider",
        controlplanebackup::NAME => "backup.gardener.cloud/provider",
        _ => "seed.gardener.cloud/provider",
    }
}

fn provided_by(label: &str, provider: &str) -> LabelSelector {
    let requirement =
        Requirement { key: label.to_owned(), operator: Operator::In, values: vec![provider.to_owned()] };
    LabelSelector { match_labels: BTreeMap::new(), match_expressions: vec![requirement] }
}

/// CP-006.
fn mutated() -> LabelSelector {
    let match_labels = BTreeMap::from([(MUTATED.to_owned(), "true".to_owned())]);
    LabelSelector { match_labels, match_expressions: Vec::new() }
}

fn rule(handled: &Handled) -> Rule {
    let one = |text: &str| vec![text.to_owned()];
    Rule {
        operations: vec!["CREATE".to_owned(), "UPDATE".to_owned()],
        api_groups: one(handled.group),
        api_versions: one(handled.version),
        resources: one(handled.resource),
        scope: None,
    }
}

fn client_config(name: &str, address: &Address, path: String, ca_bundle: Option<&str>) -> ClientConfig {
    let ca_bundle = ca_bundle.map(ToOwned::to_owned);
    match address {
        Address::Url(host) => {
            ClientConfig { url: Some(format!("https://{host}{path}")), service: None, ca_bundle }
        }
        Address::Service { namespace, port } => {
            let (namespace, name) = (namespace.clone(), name.to_owned());
            let service = ServiceReference { namespace, name, path: Some(path), port: Some(*port) };
            ClientConfig { url: None, service: Some(service), ca_bundle }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use webhook::registration::lint;

    use super::*;
    use controller::config::Configuration as _;

    use crate::config::ControlPlaneWebhooksConfiguration;

    fn registered(config: &Value) -> Value {
        let (config, _) = ControlPlaneWebhooksConfiguration::from_value(config).unwrap();
        let address = Address::Service { namespace: "extension-provider-local".to_owned(), port: 443 };
        let configuration = registration(&config, &address, Some("Y2E=")).unwrap();
        assert_eq!(lint(&configuration), Vec::new());
        configuration.to_object()
    }

    #[test]
    fn each_webhook_selects_namespaces_of_its_kind_of_provider() {
        let object = registered(&json!({"provider": "local"}));
        let webhooks: Vec<Value> = object["webhooks"]
            .as_array()
            .unwrap()
            .iter()
            .map(|webhook| {
                let resources =
                    webhook["rules"].as_array().unwrap().iter().map(|rule| rule["resources"][0].clone());
                json!([
                    webhook["name"],
                    webhook["namespaceSelector"]["matchExpressions"],
                    resources.collect::<Value>()
                ])
            })
            .collect();
        let selector = |kind: &str| json!([{"key": format!("{kind}.gardener.cloud/provider"), "operator": "In", "values": ["local"]}]);
        let wanted = [
            json!([
                "controlplane.local.extensions.gardener.cloud",
                selector("shoot"),
                ["deployments", "operatingsystemconfigs"]
            ]),
            json!(["controlplanebackup.local.extensions.gardener.cloud", selector("backup"), ["etcds"]]),
            json!([
                "controlplaneexposure.local.extensions.gardener.cloud",
                selector("seed"),
                ["services", "etcds"]
            ]),
        ];
        assert_eq!(webhooks, wanted);
        let (name, labels) = (&object["metadata"]["name"], &object["metadata"]["labels"]);
        assert_eq!(name, "gardener-extension-provider-local");
        assert_eq!(labels, &json!({"remediation.webhook.shoot.gardener.cloud/exclude": "true"}));
        assert_eq!(
            object["webhooks"][0]["clientConfig"],
            json!({"caBundle": "Y2E=", "service": {
                "namespace": "extension-provider-local", "name": "gardener-extension-provider-local", "path": "/controlplane", "port": 443,
            }})
        );
    }

    #[test]
    fn objects_are_selected_by_label_only_if_gardener_writes_it() {
        let selectors = |version: &str| {
            let object = registered(&json!({"provider": "local", "gardenerVersion": version}));
            object["webhooks"]
                .as_array()
                .unwrap()
                .iter()
                .map(|webhook| webhook["objectSelector"].clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(selectors("v1.97.4"), [Value::Null, Value::Null, Value::Null]);
        let labelled = json!({"matchLabels": {MUTATED: "true"}});
        assert_eq!(selectors("v1.98.0"), [labelled, Value::Null, Value::Null]);
    }

    #[test]
    fn a_disabled_webhook_is_not_registered() {
        let disabled =
            json!({"provider": "local", "disabledWebhooks": ["controlplane", "controlplanebackup"]});
        assert_eq!(registered(&disabled)["webhooks"].as_array().unwrap().len(), 1);
        let all = json!({"provider": "local", "disabledWebhooks": crate::webhooks::NAMES});
        let (config, _) = ControlPlaneWebhooksConfiguration::from_value(&all).unwrap();
        assert_eq!(registration(&config, &Address::Url("localhost:9443".to_owned()), None), None);
    }
}
