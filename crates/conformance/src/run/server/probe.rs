//! Probes: one more webhook in each configuration, which shows whether an API server heeds it.

use std::collections::BTreeMap;

use formats::selector::LabelSelector;
use serde_json::{Value, json};
use webhook::registration::{ClientConfig, FailurePolicy, MatchPolicy, Registration, Rule};

/// Label of the objects that probes are asked about.
const PROBED: &str = "conformance.gardener.cloud/probe";

/// A webhook that is asked about ConfigMaps labelled with `mark`, and refuses them where nobody answers.
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

/// What the probe with this mark is asked about.
pub(super) fn object(mark: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "conformance-probe", "namespace": "default", "labels": {PROBED: mark}},
    })
}
