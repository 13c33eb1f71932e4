//! Networks of a Shoot: filled in from its Seed, and apart from each other and from the Seed's.

use api::garden::Seed;
use api::garden::shoot::{Networking, ShootSpec};
use webhook::field::{Error, Path};

use crate::webhooks::field_errors::FieldErrors;
use crate::webhooks::networks::{VPN, intersect};

/// Fills in the networks of pods and services and checks all networks, if the Shoot has a Seed: GPL-SHVAL-060 to -063.
pub(super) fn fill_in(spec: &mut ShootSpec, old: &ShootSpec, seed: Option<&Seed>) -> FieldErrors {
    let Some(seed) = seed else { return FieldErrors::new() };
    let is_workerless = spec.provider.workers.is_empty();
    let mut networking = spec.networking.clone().unwrap_or_default();
    let mut errors = complete(&mut networking, seed, is_workerless);
    errors.extend(among_themselves(&networking, is_workerless));
    if old.seed_name != spec.seed_name {
        errors.extend(with_seed(&networking, seed, is_workerless));
    }
    if networking != Networking::default() {
        spec.networking = Some(networking);
    }
    errors
}

/// The Seed may have no default of its own for one of them.
fn complete(networking: &mut Networking, seed: &Seed, is_workerless: bool) -> FieldErrors {
    let defaults = seed.spec.networks.shoot_defaults.as_ref();
    let mut errors = FieldErrors::new();
    if networking.pods.is_none() && !is_workerless {
        match defaults {
            Some(defaults) => networking.pods.clone_from(&defaults.pods),
            None => errors.push(Error::required(&at("pods"), "pods is required")),
        }
    }
    if networking.services.is_none() {
        match defaults {
            Some(defaults) => networking.services.clone_from(&defaults.services),
            None => errors.push(Error::required(&at("services"), "services is required")),
        }
    }
    errors
}

fn among_themselves(networking: &Networking, is_workerless: bool) -> FieldErrors {
    let Networking { pods, services, nodes, .. } = networking;
    let overlap = |shown: (&str, &Option<String>), other: &Option<String>, detail: &str| {
        let (name, Some(shown)) = shown else { return None };
        let other = other.as_ref()?;
        intersect(shown, other).then(|| Error::invalid(&at(name), shown, detail))
    };
    let mut errors = FieldErrors::new();
    errors.extend(overlap(
        ("services", services),
        pods,
        "shoot pod network intersects with shoot service network",
    ));
    errors.extend(overlap(("pods", pods), nodes, "shoot pod network intersects with shoot node network"));
    let of_services = "shoot service network intersects with shoot node network";
    errors.extend(overlap(("services", services), nodes, of_services));
    if pods.is_none() && !is_workerless {
        errors.push(Error::required(&at("pods"), "shoot pod network is required"));
    }
    if services.is_none() {
        errors.push(Error::required(&at("services"), "shoot service network is required"));
    }
    errors
}

fn with_seed(networking: &Networking, seed: &Seed, is_workerless: bool) -> FieldErrors {
    let networks = [
        ("node", &networking.nodes, false),
        ("service", &networking.services, true),
        ("pod", &networking.pods, !is_workerless),
    ];
    let mut errors = FieldErrors::new();
    for (name, network, is_required) in networks {
        let at = at(&format!("{name}s"));
        match network {
            Some(network) => errors.extend(one_with_seed(name, network, seed, &at)),
            None if is_required => errors.push(Error::required(&at, &format!("{name}s is required"))),
            None => {}
        }
    }
    errors
}

fn one_with_seed(name: &str, network: &str, seed: &Seed, at: &Path) -> FieldErrors {
    let of_seed = &seed.spec.networks;
    let others = [
        ("seed service network".to_owned(), Some(of_seed.services.as_str())),
        ("seed pod network".to_owned(), Some(of_seed.pods.as_str())),
        ("seed node network".to_owned(), of_seed.nodes.as_deref()),
        (format!("default vpn network ({VPN})"), Some(VPN)),
    ];
    let overlapping =
        others.into_iter().filter(|(_, other)| other.is_some_and(|other| intersect(other, network)));
    let refuse = |(what, _): (String, Option<&str>)| {
        let detail = format!("shoot {name} network intersects with {what}");
        Error::invalid(at, network, &detail)
    };
    overlapping.map(refuse).collect()
}

fn at(name: &str) -> Path {
    Path::new("spec").child("networking").child(name)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;
    use crate::admission::shoot_validator::testing::{spec, texts};

    const NO_SERVICES: [&str; 2] = [
        "spec.networking.services: Required value: services is required",
        "spec.networking.services: Required value: shoot service network is required",
    ];
    const IN_NODES: &str = "spec.networking.pods: Invalid value: \"10.250.0.0/17\": shoot pod network intersects with \
        shoot node network";

    fn filled(networking: &Value, defaults: &Value, has_pools: bool, moves: bool) -> (Value, Vec<String>) {
        let networks = json!({"nodes": "10.0.0.0/24", "pods": "10.1.0.0/16", "services": "10.2.0.0/16",
            "shootDefaults": defaults});
        let seed: Seed = serde_json::from_value(json!({"spec": {"networks": networks}})).unwrap();
        let workers = if has_pools { json!([{"name": "a"}]) } else { json!([]) };
        let mut new =
            spec(json!({"networking": networking, "seedName": "s", "provider": {"workers": workers}}));
        let old = spec(json!({"seedName": if moves { Value::Null } else { json!("s") }}));
        let errors = fill_in(&mut new, &old, Some(&seed));
        (serde_json::to_value(&new.networking).unwrap(), texts(&errors))
    }

    #[rstest]
    #[case::defaults(json!({}), json!({"pods": "100.1.0.0/16", "services": "100.2.0.0/16"}), true,
        json!({"pods": "100.1.0.0/16", "services": "100.2.0.0/16"}), &[])]
    #[case::workerless(json!({}), json!({"pods": "100.1.0.0/16", "services": "100.2.0.0/16"}), false,
        json!({"services": "100.2.0.0/16"}), &[])]
    #[case::given(
        json!({"pods": "1.0.0.0/24", "services": "2.0.0.0/24"}),
        json!({"pods": "100.1.0.0/16"}),
        true,
        json!({"pods": "1.0.0.0/24", "services": "2.0.0.0/24"}),
        &[],
    )]
    #[case::no_defaults(json!({"pods": "1.0.0.0/24"}), Value::Null, true, json!({"pods": "1.0.0.0/24"}), &NO_SERVICES)]
    #[case::workerless_without(json!({}), Value::Null, false, json!({}), &NO_SERVICES)]
    #[case::no_default_for_services(
        json!({"nodes": "10.250.0.0/16"}),
        json!({"pods": "10.250.0.0/17"}),
        true,
        json!({"nodes": "10.250.0.0/16", "pods": "10.250.0.0/17"}),
        &[IN_NODES, NO_SERVICES[1]],
    )]
    #[case::all_overlap(
        json!({"nodes": "10.250.0.0/16", "pods": "10.250.0.0/17", "services": "10.250.0.0/18"}),
        Value::Null,
        true,
        json!({"nodes": "10.250.0.0/16", "pods": "10.250.0.0/17", "services": "10.250.0.0/18"}),
        &[
            "spec.networking.services: Invalid value: \"10.250.0.0/18\": shoot pod network intersects with shoot \
                service network",
            IN_NODES,
            "spec.networking.services: Invalid value: \"10.250.0.0/18\": shoot service network intersects with shoot \
                node network",
        ],
    )]
    fn networks_are_filled_in_and_apart(
        #[case] networking: Value,
        #[case] defaults: Value,
        #[case] has_pools: bool,
        #[case] want: Value,
        #[case] errors: &[&str],
    ) {
        let (filled, found) = filled(&networking, &defaults, has_pools, false);
        assert_eq!((filled, found), (want, errors.iter().map(ToString::to_string).collect()));
    }

    #[rstest]
    #[case::apart(json!({"pods": "1.0.0.0/24", "services": "2.0.0.0/24"}), &[])]
    #[case::vpn(
        json!({"pods": "192.168.123.0/24", "services": "2.0.0.0/24"}),
        &["spec.networking.pods: Invalid value: \"192.168.123.0/24\": shoot pod network intersects with default vpn \
            network (192.168.123.0/24)"],
    )]
    #[case::each_network_with_each(
        json!({"nodes": "10.2.1.0/24", "services": "10.0.0.0/8", "pods": "x"}),
        &[
            "spec.networking.services: Invalid value: \"10.0.0.0/8\": shoot pod network intersects with shoot service \
                network",
            "spec.networking.pods: Invalid value: \"x\": shoot pod network intersects with shoot node network",
            "spec.networking.services: Invalid value: \"10.0.0.0/8\": shoot service network intersects with shoot node \
                network",
            "spec.networking.nodes: Invalid value: \"10.2.1.0/24\": shoot node network intersects with seed service \
                network",
            "spec.networking.services: Invalid value: \"10.0.0.0/8\": shoot service network intersects with seed \
                service network",
            "spec.networking.services: Invalid value: \"10.0.0.0/8\": shoot service network intersects with seed pod \
                network",
            "spec.networking.services: Invalid value: \"10.0.0.0/8\": shoot service network intersects with seed node \
                network",
            "spec.networking.pods: Invalid value: \"x\": shoot pod network intersects with seed service network",
            "spec.networking.pods: Invalid value: \"x\": shoot pod network intersects with seed pod network",
            "spec.networking.pods: Invalid value: \"x\": shoot pod network intersects with seed node network",
            "spec.networking.pods: Invalid value: \"x\": shoot pod network intersects with default vpn network \
                (192.168.123.0/24)",
        ],
    )]
    #[case::three_for_one(
        json!({"pods": "1.0.0.0/24"}),
        &[NO_SERVICES[0], NO_SERVICES[1], "spec.networking.services: Required value: services is required"],
    )]
    fn a_shoot_that_gets_a_seed_is_apart_from_it(#[case] networking: Value, #[case] errors: &[&str]) {
        assert_eq!(filled(&networking, &Value::Null, true, true).1, errors);
    }

    #[test]
    fn a_shoot_without_seed_may_have_any_networks() {
        let mut new = spec(json!({"networking": {"pods": "x"}}));
        assert_eq!(fill_in(&mut new, &ShootSpec::default(), None), FieldErrors::new());
    }
}
