//! The domains below which Gardener gives Shoots their own.

use std::cmp::Reverse;

use serde_json::Value;
use webhook::strategy::ObjectReader;

/// Default domains, by descending priority. Those of one priority are in the order of their Secrets' names; the
/// original's is random.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct DefaultDomains(Vec<String>);

const PRIORITY: &str = "dns.gardener.cloud/domain-default-priority";
const DOMAIN: &str = "dns.gardener.cloud/domain";
const PROVIDER: &str = "dns.gardener.cloud/provider";

impl DefaultDomains {
    /// Reads the Secrets of the garden with default domains.
    ///
    /// # Errors
    /// The original's text when one of them is incomplete.
    pub(super) fn read(objects: &dyn ObjectReader) -> Result<Self, String> {
        let mut secrets = objects.list("secrets");
        secrets.retain(|secret| {
            let metadata = &secret["metadata"];
            metadata["namespace"] == "garden" && metadata["labels"]["gardener.cloud/role"] == "default-domain"
        });
        secrets
            .sort_by_key(|secret| Reverse(annotation(secret, PRIORITY).parse::<i64>().unwrap_or_default()));
        secrets.iter().map(domain).collect::<Result<_, _>>().map(Self)
    }

    /// The domain of the highest priority.
    pub(super) fn first(&self) -> Option<&str> {
        self.0.first().map(String::as_str)
    }

    /// The first domain that this one is below.
    pub(super) fn matching(&self, domain: &str) -> Option<&str> {
        let is_below =
            |default: &&String| domain.strip_suffix(default.as_str()).is_some_and(|rest| rest.ends_with('.'));
        self.0.iter().find(is_below).map(String::as_str)
    }
}

fn domain(secret: &Value) -> Result<String, String> {
    if secret["metadata"]["annotations"].as_object().is_none_or(serde_json::Map::is_empty) {
        return Err("domain secret has no annotations".to_owned());
    }
    for (name, what) in [(DOMAIN, "domain"), (PROVIDER, "provider")] {
        if annotation(secret, name).is_empty() {
            return Err(format!("missing dns {what} annotation on domain secret"));
        }
    }
    Ok(annotation(secret, DOMAIN).to_owned())
}

fn annotation<'a>(secret: &'a Value, name: &str) -> &'a str {
    secret["metadata"]["annotations"][name].as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;
    use crate::admission::shoot_testing::Stored;

    fn secret(name: &str, namespace: &str, role: &str, annotations: &Value) -> Value {
        let labels = json!({"gardener.cloud/role": role});
        json!({"metadata": {"name": name, "namespace": namespace, "labels": labels, "annotations": annotations}})
    }

    #[test]
    fn domains_are_sorted_by_priority() {
        let of = |domain: &str, priority: &str| json!({DOMAIN: domain, PROVIDER: "x", PRIORITY: priority});
        let stored = Stored::default()
            .with("secrets", secret("a", "garden", "default-domain", &of("low.com", "-5")))
            .with(
                "secrets",
                secret("b", "garden", "default-domain", &json!({DOMAIN: "none.com", PROVIDER: "x"})),
            )
            .with("secrets", secret("c", "garden", "default-domain", &of("wrong.com", "high")))
            .with("secrets", secret("d", "garden", "default-domain", &of("high.com", "5")))
            .with("secrets", secret("e", "garden", "internal-domain", &of("internal.com", "9")))
            .with("secrets", secret("f", "garden-dev", "default-domain", &of("dev.com", "9")));
        let domains = DefaultDomains::read(&stored).unwrap();
        assert_eq!(domains.0, ["high.com", "none.com", "wrong.com", "low.com"]);
        assert_eq!(domains.first(), Some("high.com"));
        let matching = |domain| domains.matching(domain);
        assert_eq!(
            [matching("a.b.low.com"), matching("low.com"), matching("xlow.com"), matching(".low.com")],
            [Some("low.com"), None, None, Some("low.com")]
        );
    }

    #[rstest]
    #[case::bare(json!({}), "domain secret has no annotations")]
    #[case::no_domain(json!({PROVIDER: "x"}), "missing dns domain annotation on domain secret")]
    #[case::no_provider(json!({DOMAIN: "x.com"}), "missing dns provider annotation on domain secret")]
    fn an_incomplete_secret_is_an_error(#[case] annotations: Value, #[case] want: &str) {
        let stored = Stored::default().with("secrets", secret("a", "garden", "default-domain", &annotations));
        assert_eq!(DefaultDomains::read(&stored), Err(want.to_owned()));
    }
}
