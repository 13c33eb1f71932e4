//! The provider extension of a target: configured, or derived from its registration.

use std::collections::BTreeSet;

use formats::selector::Operator;
use webhook::registration::WebhookConfiguration;

/// Labels of namespaces that name the provider of a shoot, its seed and its backups.
const LABELS: [&str; 3] =
    ["shoot.gardener.cloud/provider", "seed.gardener.cloud/provider", "backup.gardener.cloud/provider"];

/// What a namespace needs of an extension: the provider follows.
const NEEDED: &str = "extensions.gardener.cloud/provider-";
/// The end of the names of an extension's webhooks.
const EXTENSIONS: &str = ".extensions.gardener.cloud";

/// Why the provider is unclear.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProviderError {
    /// The registration does not select the configured provider.
    #[error(
        "the registration selects namespaces of provider {}, but not of {configured}: no request would be sent; set the provider \
         that it selects, or use the registration of {configured}",
        names(selected)
    )]
    Other {
        /// The configured provider.
        configured: String,
        /// The selected providers.
        selected: BTreeSet<String>,
    },
    /// The registration selects several providers.
    #[error("the registration selects namespaces of several providers, {}: set the one to verify", names(.0))]
    Several(BTreeSet<String>),
}

/// The configured provider, else the only one whose namespaces are selected; `None` without both.
///
/// # Errors
/// If they contradict each other, or several are selected and none is configured.
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

/// The providers whose namespaces webhooks select; empty if they do not select by provider.
#[must_use]
pub fn selected<'a>(configurations: impl IntoIterator<Item = &'a WebhookConfiguration>) -> BTreeSet<String> {
    let webhooks = configurations.into_iter().flat_map(|configuration| &configuration.webhooks);
    let selectors: Vec<_> = webhooks.filter_map(|webhook| webhook.namespace_selector.as_ref()).collect();
    let is_provider = |key: &str| LABELS.contains(&key);
    let labels = selectors.iter().flat_map(|selector| &selector.match_labels);
    let needed = labels.clone().filter(|(_, value)| *value == "true");
    let needed: BTreeSet<String> =
        needed.filter_map(|(key, _)| key.strip_prefix(NEEDED).map(str::to_owned)).collect();
    let labels = labels.filter(|(key, _)| is_provider(key)).map(|(_, value)| value.clone());
    let expressions = selectors.iter().flat_map(|selector| &selector.match_expressions);
    let wanted = expressions.filter(|wanted| wanted.operator == Operator::In && is_provider(&wanted.key));
    let found: BTreeSet<String> = labels.chain(wanted.flat_map(|wanted| wanted.values.clone())).collect();
    if found.is_empty() { needed } else { found }
}

/// The provider after which webhooks are named, as Gardener's library for extensions names them:
/// `controlplane.gcp.extensions.gardener.cloud`; `None`: none or several.
#[must_use]
pub fn named<'a>(configurations: impl IntoIterator<Item = &'a WebhookConfiguration>) -> Option<String> {
    let webhooks = configurations.into_iter().flat_map(|configuration| &configuration.webhooks);
    let of_name =
        |name: &'a str| name.strip_suffix(EXTENSIONS)?.split_once('.').map(|(_, provider)| provider);
    let found: BTreeSet<&str> = webhooks.filter_map(|webhook| of_name(&webhook.name)).collect();
    let mut found = found.into_iter();
    found.next().filter(|_| found.next().is_none()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use webhook::registration::Phase;

    use super::*;

    #[test]
    fn a_configured_provider_wins_and_must_be_among_the_selected_ones() {
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
            other.starts_with("the registration selects namespaces of provider aws, but not of gcp"),
            "{other}"
        );
        let several = found(None, &["azure", "aws"]).unwrap_err();
        assert!(several.contains("several providers, aws, azure: set the one"), "{several}");
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
            {"name": "d", "namespaceSelector": {"matchLabels": {"extensions.gardener.cloud/provider-gcp": "true"}}},
        ]));
        let (phase, name) = (Phase::Mutating, "a".to_owned());
        let labels = std::collections::BTreeMap::new();
        let configuration = WebhookConfiguration { phase, name, labels, webhooks: webhooks.unwrap() };
        assert_eq!(selected([&configuration]), ["aws", "azure"].map(str::to_owned).into());
        let only_needed =
            WebhookConfiguration { webhooks: vec![configuration.webhooks[3].clone()], ..configuration };
        assert_eq!(selected([&only_needed]), ["gcp".to_owned()].into());
        assert!(selected([]).is_empty());
    }

    #[test]
    fn a_provider_is_read_from_the_names_of_its_webhooks() {
        let table: [(&[&str], Option<&str>); 4] = [
            (
                &[
                    "controlplane.gcp.extensions.gardener.cloud",
                    "cloudprovider.gcp.extensions.gardener.cloud",
                ],
                Some("gcp"),
            ),
            (&["controlplane.equinix-metal.extensions.gardener.cloud"], Some("equinix-metal")),
            (
                &["controlplane.gcp.extensions.gardener.cloud", "controlplane.aws.extensions.gardener.cloud"],
                None,
            ),
            (&["extensions.gardener.cloud", "a.example.com"], None),
        ];
        for (names, provider) in table {
            let webhooks: Vec<_> = names.iter().map(|name| json!({"name": name})).collect();
            let webhooks = serde_json::from_value(json!(webhooks)).unwrap();
            let labels = std::collections::BTreeMap::new();
            let configuration =
                WebhookConfiguration { phase: Phase::Mutating, name: "a".to_owned(), labels, webhooks };
            assert_eq!(named([&configuration]).as_deref(), provider, "{names:?}");
        }
    }
}
