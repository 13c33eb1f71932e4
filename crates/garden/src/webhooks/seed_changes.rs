//! What an update of a Seed may not change.

use api::garden::seed::{SeedBackup, SeedSpec};
use webhook::field::{Error, Path};

use super::field_errors::{FieldErrors, immutable};
use super::go_value::GoValue;
use super::ip_families;

/// Networks, the ingress domain and the backup: GDN-SEC-001 to -004.
#[must_use]
pub fn validate(new: &SeedSpec, old: &SeedSpec, at: &Path) -> FieldErrors {
    let networks = at.child("networks");
    let (after, before) = (&new.networks, &old.networks);
    let families = (ip_families::value(&after.ip_families), ip_families::value(&before.ip_families));
    let mut errors = FieldErrors::new();
    errors.extend(immutable(&networks.child("ipFamilies"), &families.0, &families.1));
    errors.extend(same(&networks.child("pods"), &after.pods, &before.pods));
    errors.extend(same(&networks.child("services"), &after.services, &before.services));
    if before.nodes.is_some() {
        errors.extend(same_or_absent(&networks.child("nodes"), after.nodes.as_ref(), before.nodes.as_ref()));
    }
    if let (Some(after), Some(before)) = (&new.ingress, &old.ingress) {
        errors.extend(same(&at.child("ingress").child("domain"), &after.domain, &before.domain));
    }
    let at = at.child("backup");
    match (&new.backup, &old.backup) {
        (Some(after), Some(before)) => errors.extend(backup(after, before, &at)),
        (None, Some(_)) => errors.push(Error::invalid(&at, "null", "field is immutable")),
        (_, None) => {}
    }
    errors
}

fn backup(new: &SeedBackup, old: &SeedBackup, at: &Path) -> FieldErrors {
    let mut errors: FieldErrors =
        same(&at.child("provider"), &new.provider, &old.provider).into_iter().collect();
    errors.extend(same_or_absent(&at.child("region"), new.region.as_ref(), old.region.as_ref()));
    errors
}

fn same(at: &Path, new: &str, old: &str) -> Option<Error> {
    immutable(at, &GoValue::text(new), &GoValue::text(old))
}

fn same_or_absent(at: &Path, new: Option<&String>, old: Option<&String>) -> Option<Error> {
    let value = |text: Option<&String>| GoValue::pointer("string", text.map(GoValue::text));
    immutable(at, &value(new), &value(old))
}
