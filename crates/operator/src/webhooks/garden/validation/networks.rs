//! Networks of both clusters do not overlap.

use std::net::IpAddr;

use api::operator::runtime_cluster::RuntimeNetworking;
use webhook::field::{Error, Path};

use super::FieldErrors;

/// A network: its base address in the high bits, its length, and whether it is of IPv4.
#[derive(Clone, Copy)]
struct Network {
    base: u128,
    length: u32,
    is_v4: bool,
}

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

impl Network {
    /// Parses a network as Go does: IPv4 networks that are written as IPv6 are of IPv4.
    fn parse(text: &str) -> Option<Self> {
        let (address, length) = text.split_once('/')?;
        if length.is_empty() || !length.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let (address, length): (IpAddr, u32) = (address.parse().ok()?, length.parse().ok()?);
        let (bits, width, length) = match address {
            IpAddr::V4(address) => (u128::from(address.to_bits()) << 96, 32, length),
            IpAddr::V6(address) => match address.to_ipv4_mapped() {
                Some(inner) if (96..=128).contains(&length) => {
                    (u128::from(inner.to_bits()) << 96, 32, length - 96)
                }
                _ => (address.to_bits(), 128, length),
            },
        };
        (length <= width).then(|| Self { base: bits & mask(length), length, is_v4: width == 32 })
    }

    fn contains(self, other: Self) -> bool {
        self.is_v4 == other.is_v4 && other.base & mask(self.length) == self.base
    }
}

/// So many high bits.
fn mask(length: u32) -> u128 {
    u128::MAX.checked_shl(128 - length).unwrap_or_default()
}
