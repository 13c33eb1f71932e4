//! Ingress and DNS of a Seed.

use api::garden::seed::SeedSpec;
use webhook::field::{Error, Path};

use super::field_errors::{FieldErrors, each_invalid, required, supported};
use super::names;

/// A Seed has a domain for ingress, which needs a provider of DNS: GDN-SEI-001, GDN-SEI-002.
#[must_use]
pub fn validate(spec: &SeedSpec, at: &Path) -> FieldErrors {
    let Some(ingress) = &spec.ingress else {
        return vec![Error::required(&at.child("ingress"), "cannot be empty")];
    };
    let domain = at.child("ingress").child("domain");
    let mut errors = FieldErrors::new();
    if ingress.domain.is_empty() {
        errors.push(Error::required(&domain, "cannot be empty"));
    } else {
        errors.extend(each_invalid(&domain, &ingress.domain, &names::dns_subdomain(&ingress.domain)));
    }
    let kind = at.child("ingress").child("controller").child("kind");
    errors.extend(supported(&kind, &ingress.controller.kind, &["nginx"]));
    let at = at.child("dns").child("provider");
    let Some(provider) = &spec.dns.provider else {
        errors.push(Error::required(&at, "ingress controller requires dns.provider to be set"));
        return errors;
    };
    let text = |text: &'_ Option<String>| text.clone().unwrap_or_default();
    let secret = at.child("secretRef");
    errors.extend(required(&at.child("type"), &provider.type_, "DNS provider type must be set"));
    let (name, namespace) = (text(&provider.secret_ref.name), text(&provider.secret_ref.namespace));
    errors.extend(required(&secret.child("name"), &name, "secret reference name must be set"));
    errors.extend(required(&secret.child("namespace"), &namespace, "secret reference namespace must be set"));
    errors
}
