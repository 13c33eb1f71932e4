//! Settings of a Seed.

use std::collections::{BTreeMap, BTreeSet};

use api::garden::seed::settings::{
    SeedSettingExcessCapacityReservation, SeedSettingLoadBalancerServices, SeedSettings,
};
use webhook::field::{Error, Path};
use webhook::rejection::Rejection;

use super::field_errors::{FieldErrors, supported};
use super::{annotations, pod_tolerations, resource_quantity};

const POLICIES: [&str; 2] = ["Cluster", "Local"];

/// Capacity, load balancers and routing: GDN-SET-001 to -006; `zones` are those of the provider.
///
/// # Errors
/// 400 when an amount of a resource is no quantity.
pub fn validate(settings: &SeedSettings, zones: &[String], at: &Path) -> Result<FieldErrors, Rejection> {
    let mut errors = FieldErrors::new();
    if let Some(reservation) = &settings.excess_capacity_reservation {
        errors.extend(capacity(reservation, &at.child("excessCapacityReservation").child("configs"))?);
    }
    if let Some(services) = &settings.load_balancer_services {
        errors.extend(load_balancers(services, zones, &at.child("loadBalancerServices")));
    }
    if settings.topology_aware_routing.as_ref().is_some_and(|routing| routing.enabled) && zones.len() <= 1 {
        let why = "topology-aware routing can only be enabled on multi-zone Seed clusters (with at least two zones \
                   in spec.provider.zones)";
        errors.push(Error::forbidden(&at.child("topologyAwareRouting").child("enabled"), why));
    }
    Ok(errors)
}

fn capacity(reservation: &SeedSettingExcessCapacityReservation, at: &Path) -> Result<FieldErrors, Rejection> {
    let mut errors = FieldErrors::new();
    for (index, config) in reservation.configs.iter().enumerate() {
        let at = at.index(index);
        let resources = at.child("resources");
        if config.resources.is_empty() {
            errors.push(Error::required(&resources, "cannot be empty"));
        }
        for (name, amount) in &config.resources {
            errors.extend(resource_quantity::read("Seed", name, amount, &resources.child(name))?);
        }
        errors.extend(pod_tolerations::validate(&config.tolerations, &at.child("tolerations")));
    }
    Ok(errors)
}

fn load_balancers(services: &SeedSettingLoadBalancerServices, zones: &[String], at: &Path) -> FieldErrors {
    let mut errors = load_balancer(&services.annotations, services.external_traffic_policy.as_ref(), at);
    let at = at.child("zones");
    if zones.len() <= 1 && !services.zones.is_empty() {
        let why = "zone-specific load balancer settings only allowed with at least two zones in \
                   spec.provider.zones";
        errors.push(Error::forbidden(&at, why));
    }
    let mut seen = BTreeSet::new();
    for (index, zone) in services.zones.iter().enumerate() {
        let at = at.index(index);
        if !zones.contains(&zone.name) {
            errors.push(Error::not_found(&at.child("name"), &zone.name));
        }
        if !seen.insert(&zone.name) {
            errors.push(Error::duplicate(&at.child("name"), &zone.name));
        }
        errors.extend(load_balancer(&zone.annotations, zone.external_traffic_policy.as_ref(), &at));
    }
    errors
}

fn load_balancer(of: &BTreeMap<String, String>, policy: Option<&String>, at: &Path) -> FieldErrors {
    let mut errors = annotations::validate(of, &at.child("annotations"));
    let at = at.child("externalTrafficPolicy");
    errors.extend(policy.and_then(|policy| supported(&at, policy, &POLICIES)));
    errors
}
