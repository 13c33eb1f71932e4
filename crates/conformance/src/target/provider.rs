//! The provider of extensions that a target is of: the one that is said, or that its registration tells.

use std::collections::BTreeSet;

use formats::selector::Operator;
use webhook::registration::WebhookConfiguration;

/// Labels of namespaces that name the provider of a shoot, its seed and its backups.
const LABELS: [&str; 3] =
    ["shoot.gardener.cloud/provider", "seed.gardener.cloud/provider", "backup.gardener.cloud/provider"];

/// Why nobody knows which provider is meant.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProviderError {
    /// Nothing would be sent.
    #[error(
        "the registration selects namespaces of provider {}, and none of {configured}: nothing would be sent; name the provider that \
         it selects, or give the registration of {configured}",
        names(selected)
    )]
    Other {
        /// What is said.
        configured: String,
        /// What is selected.
        selected: BTreeSet<String>,
    },
    /// One is asked about.
    #[error("the registration selects namespaces of several providers, {}: name the one that is asked about", names(.0))]
    Several(BTreeSet<String>),
}

/// The provider that is said, else the one whose namespaces alone are selected; none where both say nothing.
///
/// # Errors
/// When both do not go together, or several are selected and none is said.
pub fn of(configured: Option<&str>, selected: &BTreeSet<String>) -> Result<Option<String>, ProviderError> {
    match (configured, selected.first()) {
        (Some(configured), Some(_)) if !selected.contains(configured) => {
            Err(ProviderError::Other { configured: configured.to_owned(), selected: selected.clone() })
        }
        (None, Some(_)) if selected.len() > 1 => Err(ProviderError::Several(selected.clone())),
        (configured, only) => Ok(configured.map(str::to_owned).or_else(|| only.cloned())),
    }
}

fn names(selected: &BTreeSet<String>) -> String {
    selected.iter().map(String::as_str).collect::<Vec<_>>().join(", ")
}

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
    fn what_is_said_goes_before_what_is_selected_and_must_go_with_it() {
        let found = |configured: Option<&str>, selected: &[&str]| {
            let selected = selected.iter().map(|name| (*name).to_owned()).collect();
            of(configured, &selected).map_err(|error| error.to_string())
        };
        let aws = || Ok(Some("aws".to_owned()));
        assert_eq!(found(None, &[]), Ok(None));
        assert_eq!(found(Some("aws"), &[]), aws());
        assert_eq!(found(None, &["aws"]), aws());
        assert_eq!(found(Some("aws"), &["aws", "azure"]), aws());
        let other = found(Some("gcp"), &["aws"]).unwrap_err();
        assert!(
            other.starts_with("the registration selects namespaces of provider aws, and none of gcp"),
            "{other}"
        );
        let several = found(None, &["azure", "aws"]).unwrap_err();
        assert!(several.contains("several providers, aws, azure: name the one"), "{several}");
    }

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
        let labels = std::collections::BTreeMap::new();
        let configuration = WebhookConfiguration { phase, name, labels, webhooks: webhooks.unwrap() };
        assert_eq!(selected([&configuration]), ["aws", "azure"].map(str::to_owned).into());
        assert!(selected([]).is_empty());
    }
}
