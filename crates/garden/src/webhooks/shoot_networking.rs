//! The networks of a Shoot.

use api::garden::shoot::{Networking, ShootSpec};
use webhook::field::{Error, Path};

use super::cidr::Cidr;
use super::field_errors::{FieldErrors, immutable, required};
use super::go_value::GoValue;
use super::ip_families;
use super::shoot_provider::workerless;

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
    let of_families = ip_families::validate(&networking.ip_families, &at.child("ipFamilies"));
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
    errors.extend(same("ipFamilies", |networking| ip_families::value(&networking.ip_families)));
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
