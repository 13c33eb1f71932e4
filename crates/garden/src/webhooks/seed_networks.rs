//! Networks of a Seed.

use api::garden::seed::SeedNetworks;
use webhook::field::Path;

use super::field_errors::FieldErrors;
use super::{ip_families, networks};

/// The networks are of one family, and apart: GDN-SEN-001, GDN-SEN-002, GDN-SEN-003. Without a legal family, nothing else
/// is checked. A template may leave out those of pods and services.
#[must_use]
pub fn validate(networks: &SeedNetworks, at: &Path, in_template: bool) -> FieldErrors {
    let errors = ip_families::validate(&networks.ip_families, &at.child("ipFamilies"));
    if !errors.is_empty() {
        return errors;
    }
    let of_shoots = at.child("shootDefaults");
    let shoots = networks.shoot_defaults.as_ref();
    let optional = [
        (at.child("nodes"), networks.nodes.as_ref()),
        (of_shoots.child("pods"), shoots.and_then(|networks| networks.pods.as_ref())),
        (of_shoots.child("services"), shoots.and_then(|networks| networks.services.as_ref())),
    ];
    let mut all =
        vec![(at.child("pods"), networks.pods.as_str()), (at.child("services"), networks.services.as_str())];
    all.retain(|(_, network)| !in_template || !network.is_empty());
    all.extend(optional.into_iter().filter_map(|(at, network)| Some((at, network?.as_str()))));
    networks::validate(&all)
}
