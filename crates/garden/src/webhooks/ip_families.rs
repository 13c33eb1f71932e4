//! Families of IP addresses.

use std::collections::BTreeSet;

use webhook::field::{Error, Path};

use super::field_errors::FieldErrors;
use super::go_value::GoValue;

const FAMILIES: [&str; 2] = ["IPv4", "IPv6"];

/// One family, which must be IPv4 while the others are not released.
pub(super) fn validate(families: &[String], at: &Path) -> FieldErrors {
    let (mut errors, mut seen) = (FieldErrors::new(), BTreeSet::new());
    for (index, family) in families.iter().enumerate() {
        let at = at.index(index);
        if !FAMILIES.contains(&family.as_str()) {
            errors.push(Error::not_supported(&at, family, &FAMILIES));
        }
        if !seen.insert(family) {
            errors.push(Error::duplicate(&at, family));
        }
    }
    if !errors.is_empty() {
        return errors;
    }
    let shown = value(families);
    if families.len() > 1 {
        errors.push(Error::invalid(at, &shown, "dual-stack networking is not supported"));
    }
    if families.first().is_some_and(|first| first == "IPv6") {
        errors.push(Error::invalid(at, &shown, "IPv6 single-stack networking is not supported"));
    }
    errors
}

/// The list as a value of the original's type.
pub(super) fn value(families: &[String]) -> GoValue {
    GoValue::List("core.IPFamily", families.iter().map(GoValue::text).collect())
}
