//! Networks of both clusters do not overlap.

use api::operator::runtime_cluster::RuntimeNetworking;
use webhook::field::{Error, Path};

use super::FieldErrors;
use crate::network::Network;

/// The runtime cluster's networks do not overlap. OPR-NET-001, OPR-NET-003.
pub(super) fn runtime(networking: &RuntimeNetworking) -> FieldErrors {
    let at = Path::new("spec").child("runtimeCluster").child("networking");
    let RuntimeNetworking { nodes, pods, services, .. } = networking;
    let mut errors = Vec::new();
    if intersect(pods, services) {
        let text = "pod network of runtime cluster intersects with service network of runtime cluster";
        errors.push(Error::invalid(&at.child("services"), services, text));
    }
    let Some(nodes) = nodes else { return errors };
    for (name, network) in [("pod", pods), ("service", services)] {
        if intersect(nodes, network) {
            let text =
                format!("node network of runtime cluster intersects with {name} network of runtime cluster");
            errors.push(Error::invalid(&at.child("nodes"), nodes, &text));
        }
    }
    errors
}

/// The virtual cluster's network of services overlaps with none of the runtime cluster. OPR-NET-002, OPR-NET-003.
pub(super) fn services(services: &str, runtime: &RuntimeNetworking, at: &Path) -> FieldErrors {
    let mut errors = Vec::new();
    if Network::parse(services).is_none() {
        let text = format!("cannot parse service network cidr: invalid CIDR address: {services}");
        errors.push(Error::invalid(at, services, &text));
    }
    let others = [
        ("pod", Some(&runtime.pods)),
        ("service", Some(&runtime.services)),
        ("node", runtime.nodes.as_ref()),
    ];
    for (name, network) in others {
        if network.is_some_and(|network| intersect(network, services)) {
            let text = format!(
                "{name} network of runtime cluster intersects with service network of virtual cluster"
            );
            errors.push(Error::invalid(at, services, &text));
        }
    }
    errors
}

/// A text that is no network overlaps with every other.
fn intersect(one: &str, other: &str) -> bool {
    match (Network::parse(one), Network::parse(other)) {
        (Some(one), Some(other)) => one.contains(other) || other.contains(one),
        _ => true,
    }
}
