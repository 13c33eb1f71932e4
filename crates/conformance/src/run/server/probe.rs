//! Probes: an additional webhook in each configuration, which shows whether an API server uses the configuration.

use std::collections::BTreeMap;

use formats::selector::LabelSelector;
use serde_json::{Value, json};
use webhook::registration::{ClientConfig, FailurePolicy, MatchPolicy, Registration, Rule};

/// Label of the objects for which probes are called.
const PROBED: &str = "conformance.gardener.cloud/probe";

/// A webhook for ConfigMaps with the label value `mark`; if it does not answer, they are refused.
pub(super) fn registration(number: usize, mark: &str, client_config: ClientConfig) -> Registration {
    let one = |text: &str| vec![text.to_owned()];
    let labels = BTreeMap::from([(PROBED.to_owned(), mark.to_owned())]);
    Registration {
        name: format!("{number}.probe.conformance.gardener.cloud"),
        client_config,
        rules: vec![Rule {
            operations: one("CREATE"),
            api_groups: one(""),
            api_versions: one("v1"),
            resources: one("configmaps"),
            scope: None,
        }],
        object_selector: Some(LabelSelector { match_labels: labels, ..LabelSelector::default() }),
        failure_policy: Some(FailurePolicy::Fail),
        match_policy: Some(MatchPolicy::Exact),
        side_effects: Some("None".to_owned()),
        admission_review_versions: one("v1"),
        ..Registration::default()
    }
}

/// The object for which the probe with this mark is called.
pub(super) fn object(mark: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "conformance-probe", "namespace": "default", "labels": {PROBED: mark}},
    })
}
