//! The provider of extensions that a target is of.

use conformance::target::provider::selected;
use contract::document::target::TargetSpec;

use super::Registrations;

/// The provider that is said, else the one whose namespaces alone the registration selects. An error is why both do not go
/// together: nothing would be sent.
pub(super) fn of(spec: &TargetSpec, registrations: &Registrations) -> Result<Option<String>, String> {
    let selected = selected(registrations.values().flatten());
    let names = || selected.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
    match (&spec.provider, selected.len()) {
        (Some(said), 1..) if !selected.contains(said) => Err(format!(
            "provider: {said}, but its registration selects namespaces of provider {}; say `provider: {}`, or the registration \
             of {said}",
            names(),
            selected.first().map_or("", String::as_str),
        )),
        (None, 2..) => Err(format!(
            "its registration selects namespaces of several providers, {}; say which one is asked about, `provider: {}`",
            names(),
            selected.first().map_or("", String::as_str),
        )),
        (Some(said), _) => Ok(Some(said.clone())),
        (None, _) => Ok(selected.first().cloned()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use webhook::registration::WebhookConfiguration;

    use super::*;

    fn selecting(providers: &[&str]) -> Registrations {
        let webhooks: Vec<_> = providers
            .iter()
            .map(|provider| {
                json!({
                    "name": "a.b.c", "clientConfig": {"url": "https://a"},
                    "namespaceSelector": {"matchLabels": {"shoot.gardener.cloud/provider": provider}},
                })
            })
            .collect();
        let object = json!({
            "apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingWebhookConfiguration",
            "metadata": {"name": "a"}, "webhooks": webhooks,
        });
        Registrations::from([(String::new(), vec![WebhookConfiguration::from_object(&object).unwrap()])])
    }

    #[test]
    fn what_is_said_goes_before_what_is_selected_and_must_go_with_it() {
        let of_file = |said: Option<&str>, selected: &[&str]| {
            let spec = TargetSpec { provider: said.map(str::to_owned), ..TargetSpec::default() };
            of(&spec, &selecting(selected))
        };
        assert_eq!(of_file(None, &[]), Ok(None));
        assert_eq!(of_file(Some("aws"), &[]), Ok(Some("aws".to_owned())));
        assert_eq!(of_file(None, &["aws"]), Ok(Some("aws".to_owned())));
        assert_eq!(of_file(Some("aws"), &["aws", "azure"]), Ok(Some("aws".to_owned())));
        let wrong = of_file(Some("gcp"), &["aws"]).unwrap_err();
        assert!(wrong.contains("selects namespaces of provider aws; say `provider: aws`"), "{wrong}");
        let several = of_file(None, &["azure", "aws"]).unwrap_err();
        assert!(several.contains("several providers, aws, azure; say which one"), "{several}");
    }
}
