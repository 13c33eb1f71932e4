//! The networks of a Shoot.

use std::collections::BTreeSet;

use api::garden::shoot::{Networking, ShootSpec};
use webhook::field::{Error, Path};

use super::cidr::Cidr;
use super::field_errors::{FieldErrors, immutable, required};
use super::go_value::GoValue;
use super::shoot_provider::workerless;

const FAMILIES: [&str; 2] = ["IPv4", "IPv6"];

/// The errors of the networks: GDN-SNW-001 to -005.
pub(super) fn validate(spec: &ShootSpec, at: &Path) -> FieldErrors {
    let (at, has_pools) = (at.child("networking"), !spec.provider.workers.is_empty());
    let Some(networking) = &spec.networking else {
        let detail = "networking should not be nil for a Shoot with workers";
        return has_pools.then(|| Error::required(&at, detail)).into_iter().collect();
    };
    let mut errors = FieldErrors::new();
    if has_pools {
        let kind = networking.type_.as_deref().unwrap_or_default();
        errors.extend(required(&at.child("type"), kind, "networking type must be provided"));
    } else {
        let present = [
            ("type", networking.type_.is_some()),
            ("providerConfig", networking.provider_config.is_some()),
            ("pods", networking.pods.is_some()),
            ("nodes", networking.nodes.is_some()),
        ];
        errors.extend(workerless(&at, present));
    }
    let of_families = families(networking, &at.child("ipFamilies"));
    if !of_families.is_empty() {
        // It is unknown which addresses the networks should have.
        errors.extend(of_families);
        return errors;
    }
    let networks =
        [("nodes", &networking.nodes), ("pods", &networking.pods), ("services", &networking.services)];
    for (name, network) in networks {
        errors.extend(network.iter().flat_map(|network| validate_one(network, &at.child(name))));
    }
    errors
}

/// What an update may not change, but for what was absent: GDN-SNW-006, GDN-SNW-007.
pub(super) fn validate_update(new: &ShootSpec, old: &ShootSpec, at: &Path) -> FieldErrors {
    let at = at.child("networking");
    let Some(before) = &old.networking else { return FieldErrors::new() };
    let Some(after) = &new.networking else {
        return vec![Error::forbidden(&at, "networking cannot be set to nil if it's already set")];
    };
    let same =
        |name: &str, of: fn(&Networking) -> GoValue| immutable(&at.child(name), &of(after), &of(before));
    let mut errors = FieldErrors::new();
    errors.extend(same("type", |networking| text(networking.type_.as_ref())));
    errors.extend(same("ipFamilies", ip_families));
    if before.pods.is_some() {
        errors.extend(same("pods", |networking| text(networking.pods.as_ref())));
    }
    if before.services.is_some() {
        errors.extend(same("services", |networking| text(networking.services.as_ref())));
    }
    if before.nodes.is_some() {
        errors.extend(same("nodes", |networking| text(networking.nodes.as_ref())));
    }
    errors
}

fn text(text: Option<&String>) -> GoValue {
    GoValue::pointer("string", text.map(GoValue::text))
}

fn ip_families(networking: &Networking) -> GoValue {
    GoValue::List("core.IPFamily", networking.ip_families.iter().map(GoValue::text).collect())
}

/// One family, which must be IPv4 while the others are not released.
fn families(networking: &Networking, at: &Path) -> FieldErrors {
    let families = &networking.ip_families;
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
    let shown = ip_families(networking);
    if families.len() > 1 {
        errors.push(Error::invalid(at, &shown, "dual-stack networking is not supported"));
    }
    if families.first().is_some_and(|first| first == "IPv6") {
        errors.push(Error::invalid(at, &shown, "IPv6 single-stack networking is not supported"));
    }
    errors
}

fn validate_one(text: &str, at: &Path) -> FieldErrors {
    let network = match Cidr::parse(text) {
        Ok(network) => network,
        Err(error) => return vec![Error::invalid(at, text, &error.to_string())],
    };
    let mut errors = FieldErrors::new();
    if !network.is_v4() {
        let address = network.network().to_string();
        errors.push(Error::invalid(at, address.as_str(), "must be a valid IPv4 address"));
    }
    if !network.is_canonical() {
        errors.push(Error::invalid(at, text, "must be valid canonical CIDR"));
    }
    errors
}
