//! Validation of a created or updated Quota.

use api::garden::reference::ObjectReference;
use api::garden::{Quota, quota::QuotaSpec};
use formats::quantity::Quantity;
use serde_json::Value;
use webhook::field::{Error, Path};
use webhook::rejection::Rejection;

use super::field_errors::{self, FieldErrors, immutable};
use super::go_value::GoValue;
use super::{metadata, names, reading, references, resource_quantity};

const KIND: &str = "Quota";
const METRICS: [&str; 6] = ["cpu", "gpu", "memory", "storage.standard", "storage.premium", "loadbalancer"];

/// Validates a Quota: GDN-QTA-001 to -006.
///
/// # Errors
/// 422 with all errors; 400 when it is not a Quota.
pub fn validate(old: Option<&Value>, new: &Value) -> Result<(), Rejection> {
    let quota: Quota = reading::read(KIND, new)?;
    let metrics = metrics(&quota.spec)?;
    let mut errors = FieldErrors::new();
    if let Some(old) = old {
        let old: Quota = reading::read(KIND, old)?;
        let scope = |quota: &Quota| {
            GoValue::pointer("v1.ObjectReference", Some(references::object(&quota.spec.scope)))
        };
        errors.extend(immutable(&Path::new("spec").child("scope"), &scope(&quota), &scope(&old)));
    }
    errors.extend(metadata::validate(&quota.metadata, names::dns_subdomain));
    errors.extend(scope(&quota.spec.scope));
    errors.extend(metrics.into_iter().flat_map(|(name, text, quantity)| metric(name, text, &quantity)));
    field_errors::invalid(KIND, &quota.metadata.name.unwrap_or_default(), &errors)
}

fn metrics(spec: &QuotaSpec) -> Result<Vec<(&str, &str, Quantity)>, Rejection> {
    let parsed = spec.metrics.iter().map(|(name, text)| {
        let quantity = resource_quantity::parse(KIND, text)?;
        Ok((name.as_str(), text.0.as_str(), quantity))
    });
    parsed.collect()
}

/// A Project of any version of the group, or a Secret.
fn scope(reference: &ObjectReference) -> Option<Error> {
    let (version, kind) =
        (reference.api_version.as_deref().unwrap_or_default(), reference.kind.as_deref().unwrap_or_default());
    let group = match version.split('/').collect::<Vec<_>>().as_slice() {
        [group, _] => *group,
        _ => "",
    };
    if (group, kind) == (api::garden::GROUP, "Project") || (version, kind) == ("v1", "Secret") {
        return None;
    }
    let at = Path::new("spec").child("scope");
    Some(Error::not_supported(&at, &references::object(reference), &["project", "secret"]))
}

fn metric(name: &str, text: &str, quantity: &Quantity) -> FieldErrors {
    let at = Path::new("spec").child("metrics").key(name);
    let mut errors = FieldErrors::new();
    if !METRICS.contains(&name) {
        let detail = format!("{name} is no supported quota metric");
        errors.push(Error::invalid(&at, quantity.to_string().as_str(), &detail));
    }
    errors.extend(resource_quantity::validate(name, text, quantity, &at));
    errors
}
