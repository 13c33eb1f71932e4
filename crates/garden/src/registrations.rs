//! Webhook configurations for the webhooks that this component serves.

use std::collections::BTreeMap;

use webhook::registration::{
    ClientConfig, FailurePolicy, MatchPolicy, Phase, Registration, Rule, ServiceReference,
    WebhookConfiguration,
};

use crate::webhooks::{Resource, resources};

/// Name of the Service and of the webhook configurations.
pub const NAME: &str = "gardener-garden-admission";
/// Namespace of the Service.
pub const NAMESPACE: &str = "garden";

/// The configurations, the mutating one first. `ca_bundle` is a PEM bundle in base64.
///
/// GDN-BAS-006, GDN-BBU-006, GDN-BEN-004, GDN-INS-009, GDN-SEE-005, GDN-STA-007, GDN-SAN-003, GDN-SAN-004, GDN-CDP-005, GDN-CIN-006, GDN-CRG-009, GDN-EXC-006, GDN-PJT-011, GDN-QTA-008, GDN-SBI-007, GDN-MSE-011, GDN-MSS-009, GDN-OIP-013, GDN-COP-007.
///
/// The failure policy is Fail: without its admission, a garden accepts no unchecked versions.
#[must_use]
pub fn registrations(ca_bundle: Option<&str>) -> Vec<WebhookConfiguration> {
    let configuration =
        |phase: Phase, name: &str, path: fn(&Resource) -> Option<&'static str>| WebhookConfiguration {
            phase,
            name: NAME.to_owned(),
            labels: BTreeMap::new(),
            webhooks: resources()
                .filter_map(|resource| Some(registration(name, &resource, path(&resource)?, ca_bundle)))
                .collect(),
        };
    vec![
        configuration(Phase::Mutating, "mutation", |resource| resource.mutating_path),
        configuration(Phase::Validating, "validation", |resource| Some(resource.validating_path)),
    ]
}

fn registration(what: &str, resource: &Resource, path: &str, ca_bundle: Option<&str>) -> Registration {
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    let (group, version) = resource.api_version.split_once('/').unwrap_or(("", resource.api_version));
    let service = ServiceReference {
        namespace: NAMESPACE.to_owned(),
        name: NAME.to_owned(),
        path: Some(path.to_owned()),
        port: None,
    };
    Registration {
        name: format!("{what}.{}.garden-admission.gardener.cloud", resource.plural),
        client_config: ClientConfig {
            url: None,
            service: Some(service),
            ca_bundle: ca_bundle.map(str::to_owned),
        },
        rules: vec![Rule {
            operations: texts(&["CREATE", "UPDATE"]),
            api_groups: texts(&[group]),
            api_versions: texts(&[version]),
            resources: texts(&[resource.plural]),
            scope: None,
        }],
        failure_policy: Some(FailurePolicy::Fail),
        match_policy: Some(MatchPolicy::Equivalent),
        side_effects: Some("None".to_owned()),
        timeout_seconds: Some(10),
        admission_review_versions: vec!["v1".to_owned(), "v1beta1".to_owned()],
        ..Registration::default()
    }
}
