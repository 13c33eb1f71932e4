//! System components of a Shoot: its DNS server.

use std::collections::BTreeSet;

use api::garden::shoot::ShootSpec;
use webhook::field::{Error, Path};

use super::field_errors::{FieldErrors, supported};
use super::shoot_provider::WORKERLESS;

/// The errors of the system components: GDN-SSC-001 to -003. In Shoots, unlike templates, the mode is always a known one.
pub(super) fn validate(spec: &ShootSpec, at: &Path) -> FieldErrors {
    let Some(components) = &spec.system_components else { return FieldErrors::new() };
    let at = at.child("systemComponents");
    if spec.provider.workers.is_empty() {
        return vec![Error::forbidden(&at, WORKERLESS)];
    }
    let Some(dns) = &components.core_dns else { return FieldErrors::new() };
    let at = at.child("coreDNS");
    let mode = dns.autoscaling.as_ref().map(|autoscaling| autoscaling.mode.as_str());
    let known = ["cluster-proportional", "horizontal"];
    let mode = mode.and_then(|mode| supported(&at.child("autoscaling").child("mode"), mode, &known));
    let mut errors: FieldErrors = mode.into_iter().collect();
    let at = at.child("rewriting").child("commonSuffixes");
    if let Some(rewriting) = &dns.rewriting {
        errors.extend(validate_suffixes(&rewriting.common_suffixes, &at));
    }
    errors
}

/// Common suffixes have a dot that is not their first letter, and are unique.
pub(crate) fn validate_suffixes(suffixes: &[String], at: &Path) -> FieldErrors {
    let (mut errors, mut seen) = (FieldErrors::new(), BTreeSet::new());
    for (index, suffix) in suffixes.iter().enumerate() {
        let at = at.index(index);
        let rest = suffix.strip_prefix('.').unwrap_or(suffix);
        if !rest.contains('.') {
            let detail = "must contain at least one non-leading dot ('.')";
            errors.push(Error::invalid(&at, suffix, detail));
        }
        if !seen.insert(rest) {
            errors.push(Error::duplicate(&at, rest));
        }
    }
    errors
}
