//! Webhook configurations for the webhooks that this component serves.

use std::collections::BTreeMap;

use api::operator::{GROUP, VERSION};
use webhook::registration::{
    ClientConfig, FailurePolicy, MatchPolicy, Phase, Registration, Rule, ServiceReference,
    WebhookConfiguration,
};

use crate::webhooks::garden::{DEFAULTING_PATH, VALIDATION_PATH};

/// Name of the Service and of the webhook configurations.
pub const NAME: &str = "gardener-operator";
/// Namespace of the Service.
pub const NAMESPACE: &str = "garden";

/// The configurations, the mutating one first. `ca_bundle` is a PEM bundle in base64. OPR-ANS-004.
#[must_use]
pub fn registrations(ca_bundle: Option<&str>) -> Vec<WebhookConfiguration> {
    let configuration = |phase: Phase, name: &str, path: &str| WebhookConfiguration {
        phase,
        name: NAME.to_owned(),
        labels: BTreeMap::new(),
        webhooks: vec![registration(name, path, ca_bundle)],
    };
    vec![
        configuration(Phase::Mutating, "defaulting.operator.gardener.cloud", DEFAULTING_PATH),
        configuration(Phase::Validating, "validation.operator.gardener.cloud", VALIDATION_PATH),
    ]
}

fn registration(name: &str, path: &str, ca_bundle: Option<&str>) -> Registration {
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    let service = ServiceReference {
        namespace: NAMESPACE.to_owned(),
        name: NAME.to_owned(),
        path: Some(path.to_owned()),
        port: None,
    };
    Registration {
        name: name.to_owned(),
        client_config: ClientConfig {
            url: None,
            service: Some(service),
            ca_bundle: ca_bundle.map(str::to_owned),
        },
        rules: vec![Rule {
            operations: texts(&["CREATE", "UPDATE", "DELETE"]),
            api_groups: texts(&[GROUP]),
            api_versions: texts(&[VERSION]),
            resources: texts(&["gardens"]),
            scope: None,
        }],
        failure_policy: Some(FailurePolicy::Fail),
        match_policy: Some(MatchPolicy::Exact),
        side_effects: Some("None".to_owned()),
        timeout_seconds: Some(10),
        admission_review_versions: texts(&["v1", "v1beta1"]),
        ..Registration::default()
    }
}
