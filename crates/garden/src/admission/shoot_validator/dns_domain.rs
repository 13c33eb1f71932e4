//! Domains of Shoots, none of which is part of another.

use api::garden::Shoot;
use webhook::field::{Error, Path};
use webhook::strategy::ObjectReader;

use crate::admission::shoot_support::SHOOTS;

/// Compares the Shoot's domain with those of other Shoots, until one is in conflict. As in the original, Shoots of the
/// same name in other namespaces are not compared: GPL-SHVAL-115 to -117.
pub(super) fn validate(shoot: &Shoot, objects: &dyn ObjectReader) -> Option<Error> {
    let own = shoot.spec.dns.as_ref()?.domain.as_ref()?;
    let name = shoot.metadata.name.as_deref().unwrap_or_default();
    let at = Path::new("spec").child("dns").child("domain");
    let others = objects.list(SHOOTS);
    let others = others.iter().filter(|other| other["metadata"]["name"] != name);
    let mut domains = others.filter_map(|other| other["spec"]["dns"]["domain"].as_str());
    let conflict = domains.find(|domain| is_within(domain, own) || is_within(own, domain))?;
    if conflict == own {
        return Some(Error::duplicate(&at, own));
    }
    let detail = "the domain is already used by another shoot or it is a subdomain of an already used domain";
    Some(Error::forbidden(&at, detail))
}

/// Whether a domain is another one, or below it.
fn is_within(domain: &str, other: &str) -> bool {
    let Some(rest) = domain.strip_suffix(other) else { return false };
    rest.is_empty() || rest.ends_with('.') || other.starts_with('.')
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;
    use crate::admission::shoot_testing::Stored;

    const USED: &str = "Forbidden: the domain is already used by another shoot or it is a subdomain of an already used \
        domain";

    /// GPL-V-06.
    #[rstest]
    #[case::same("some.domain.com", "Duplicate value: \"some.domain.com\"")]
    #[case::below("sub.some.domain.com", USED)]
    #[case::above("domain.com", USED)]
    #[case::other("someprefixsome.domain.com", "")]
    #[case::sibling("other.domain.com", "")]
    fn domains_do_not_overlap(#[case] domain: &str, #[case] want: &str) {
        let shoot = |name: &str, domain: &str| {
            json!({"metadata": {"name": name, "namespace": "garden-x"},
            "spec": {"dns": {"domain": domain}}})
        };
        let own: Shoot = serde_json::from_value(shoot("app", domain)).unwrap();
        let stored = Stored::default().with_shoot(shoot("other", "some.domain.com"));
        let error = validate(&own, &stored).map(|error| error.to_string()).unwrap_or_default();
        let want = if want.is_empty() { String::new() } else { format!("spec.dns.domain: {want}") };
        assert_eq!(error, want);
        let of_same_name = Stored::default().with_shoot(shoot("app", "some.domain.com"));
        assert_eq!(validate(&own, &of_same_name), None);
    }
}
