//! The provider of extensions that a target is of, as its registration tells it.

use std::collections::BTreeSet;

use formats::selector::Operator;
use webhook::registration::WebhookConfiguration;

/// Labels of namespaces that name the provider of a shoot, its seed and its backups.
const LABELS: [&str; 3] =
    ["shoot.gardener.cloud/provider", "seed.gardener.cloud/provider", "backup.gardener.cloud/provider"];

/// The providers whose namespaces webhooks select; none where they select by no provider.
#[must_use]
pub fn selected<'a>(configurations: impl IntoIterator<Item = &'a WebhookConfiguration>) -> BTreeSet<String> {
    let webhooks = configurations.into_iter().flat_map(|configuration| &configuration.webhooks);
    let selectors: Vec<_> = webhooks.filter_map(|webhook| webhook.namespace_selector.as_ref()).collect();
    let is_provider = |key: &str| LABELS.contains(&key);
    let labels = selectors.iter().flat_map(|selector| &selector.match_labels);
    let labels = labels.filter(|(key, _)| is_provider(key)).map(|(_, value)| value.clone());
    let expressions = selectors.iter().flat_map(|selector| &selector.match_expressions);
    let wanted = expressions.filter(|wanted| wanted.operator == Operator::In && is_provider(&wanted.key));
    labels.chain(wanted.flat_map(|wanted| wanted.values.clone())).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use webhook::registration::Phase;

    use super::*;

    #[test]
    fn providers_are_those_of_labels_and_of_expressions_that_select() {
        let webhooks = serde_json::from_value(json!([
            {"name": "a", "namespaceSelector": {"matchLabels": {"shoot.gardener.cloud/provider": "aws", "a": "b"}}},
            {"name": "b", "namespaceSelector": {"matchExpressions": [
                {"key": "seed.gardener.cloud/provider", "operator": "In", "values": ["azure"]},
                {"key": "backup.gardener.cloud/provider", "operator": "NotIn", "values": ["gcp"]},
            ]}},
            {"name": "c"},
        ]));
        let (phase, name) = (Phase::Mutating, "a".to_owned());
        let configuration = WebhookConfiguration { phase, name, webhooks: webhooks.unwrap() };
        assert_eq!(selected([&configuration]), ["aws", "azure"].map(str::to_owned).into());
        assert!(selected([]).is_empty());
    }
}
