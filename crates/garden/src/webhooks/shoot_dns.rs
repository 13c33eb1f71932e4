//! The domain of a Shoot, and its DNS providers.

use std::collections::BTreeSet;

use api::garden::shoot::ShootSpec;
use api::garden::shoot::dns::{Dns, DnsProvider};
use webhook::field::{Error, Path, quote};

use super::field_errors::{FieldErrors, each_invalid};
use super::names;

const UNMANAGED: &str = "unmanaged";

/// The errors of domain and providers: GDN-SDN-001 to -003.
pub(super) fn validate(spec: &ShootSpec, at: &Path) -> FieldErrors {
    let Some(dns) = &spec.dns else { return FieldErrors::new() };
    let at = at.child("dns");
    let (at_domain, mut errors) = (at.child("domain"), FieldErrors::new());
    if let Some(domain) = &dns.domain {
        errors.extend(each_invalid(&at_domain, domain, &names::dns_subdomain(domain)));
    }
    let managed =
        primary(dns).and_then(|provider| provider.type_.as_deref()).filter(|kind| *kind != UNMANAGED);
    if managed.is_some() && dns.domain.is_none() {
        let detail = "domain must be set when primary provider type is not set to \"unmanaged\"";
        errors.push(Error::required(&at_domain, detail));
    }
    let (mut names, mut has_primary) = (BTreeSet::new(), false);
    for (index, provider) in dns.providers.iter().enumerate() {
        let at = at.child("providers").index(index);
        errors.extend(validate_provider(provider, &at, &mut names, &mut has_primary));
    }
    errors
}

/// What an update may not change: GDN-SDN-004 to -006. Until a seed is chosen, providers may be completed.
pub(super) fn validate_update(new: &ShootSpec, old: &ShootSpec, at: &Path) -> FieldErrors {
    const IMMUTABLE: &str = "field is immutable";
    let at = at.child("dns");
    let Some(before) = &old.dns else { return FieldErrors::new() };
    let Some(dns) = &new.dns else { return vec![Error::invalid(&at, "null", IMMUTABLE)] };
    let mut errors = FieldErrors::new();
    if before.domain.is_some() && before.domain != dns.domain {
        let domain = dns.domain.as_deref().unwrap_or("null");
        errors.push(Error::invalid(&at.child("domain"), domain, IMMUTABLE));
    }
    let Some(old) = primary(before).filter(|_| new.seed_name.is_none()) else { return errors };
    let refusal = match (primary(dns), &old.type_) {
        (None, _) => Some("removing a primary provider is not allowed"),
        (Some(DnsProvider { type_: None, .. }), Some(_)) => {
            Some("removing the primary provider type is not allowed")
        }
        (Some(provider), Some(_)) if provider.type_ != old.type_ => {
            Some("changing primary provider type is not allowed")
        }
        (Some(_), _) => None,
    };
    errors.extend(refusal.map(|detail| Error::forbidden(&at.child("providers"), detail)));
    errors
}

fn primary(dns: &Dns) -> Option<&DnsProvider> {
    dns.providers.iter().find(|provider| provider.primary == Some(true))
}

/// The first error of some kinds ends the checks of a provider, as in the original.
fn validate_provider(
    provider: &DnsProvider,
    at: &Path,
    names: &mut BTreeSet<String>,
    has_primary: &mut bool,
) -> FieldErrors {
    let mut errors = FieldErrors::new();
    if let (Some(secret), Some(kind)) = (&provider.secret_name, &provider.type_) {
        let name = format!("{kind}-{secret}");
        if names.contains(&name) {
            let detail = "combination of .secretName and .type must be unique across dns providers";
            return vec![Error::invalid(at, &name, detail)];
        }
        for why in names::dns_subdomain(&name) {
            let detail = format!("combination of .secretName and .type is invalid: {}", quote(&why));
            errors.push(Error::invalid(at, &name, &detail));
        }
        names.insert(name);
    }
    if provider.primary == Some(true) {
        if *has_primary {
            let detail = "multiple primary DNS providers are not supported";
            errors.push(Error::forbidden(&at.child("primary"), detail));
            return errors;
        }
        *has_primary = true;
    }
    match (&provider.secret_name, provider.type_.as_deref()) {
        (Some(secret), Some(UNMANAGED)) => {
            let detail = "secretName must not be set when type is \"unmanaged\"";
            errors.push(Error::invalid(&at.child("secretName"), secret, detail));
        }
        (Some(_), None) => {
            errors.push(Error::required(&at.child("type"), "type must be set when secretName is set"));
        }
        _ => {}
    }
    errors
}
