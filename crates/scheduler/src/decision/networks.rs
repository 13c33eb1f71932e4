//! Whether the networks of a Shoot overlap with those of a Seed.

use std::net::IpAddr;

use api::garden::Shoot;
use api::garden::seed::SeedNetworks;
use webhook::field::{Error, Path};

/// The network between control planes and their Shoots.
const VPN: &str = "192.168.123.0/24";

/// The networks of a Shoot, as far as it names them.
pub(super) struct ShootNetworks<'a> {
    nodes: Option<Cidr<'a>>,
    services: Option<Cidr<'a>>,
    pods: Option<Cidr<'a>>,
    /// It has no workers, so it needs no network of pods.
    workerless: bool,
    vpn: Cidr<'static>,
}

/// A network as written, and as parsed.
#[derive(Clone, Copy)]
struct Cidr<'a> {
    text: &'a str,
    network: Option<Network>,
}

/// A parsed network: its base address in the high bits, its length, and whether it is of IPv4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Network {
    base: u128,
    length: u32,
    is_v4: bool,
}

impl<'a> ShootNetworks<'a> {
    /// The networks of a Shoot; `None` if it has none, so that nothing is checked. SCH-NET-001.
    pub(super) fn of(shoot: &'a Shoot) -> Option<Self> {
        let networking = shoot.spec.networking.as_ref()?;
        Some(Self {
            nodes: networking.nodes.as_deref().map(Cidr::new),
            services: networking.services.as_deref().map(Cidr::new),
            pods: networking.pods.as_deref().map(Cidr::new),
            workerless: shoot.spec.provider.workers.is_empty(),
            vpn: Cidr::new(VPN),
        })
    }

    /// Why the Seed cannot take the Shoot: overlapping and missing networks. The Seed's defaults take the place of
    /// missing networks. SCH-NET-002 to -009.
    pub(super) fn overlap(&self, seed: &SeedNetworks) -> Option<String> {
        let defaults = seed.shoot_defaults.as_ref();
        let services = self.services.or_else(|| defaults?.services.as_deref().map(Cidr::new));
        let default_pods = defaults.filter(|_| !self.workerless);
        let pods = self.pods.or_else(|| default_pods?.pods.as_deref().map(Cidr::new));
        let others = [
            ("service", Some(Cidr::new(&seed.services))),
            ("pod", Some(Cidr::new(&seed.pods))),
            ("node", seed.nodes.as_deref().map(Cidr::new)),
        ];
        let mut errors = Vec::new();
        for (kind, own, is_needed) in
            [("node", self.nodes, false), ("service", services, true), ("pod", pods, !self.workerless)]
        {
            match own {
                Some(own) => self.compare(kind, own, &others, &mut errors),
                None if is_needed => {
                    errors.push(Error::required(&Path::new(""), &format!("{kind}s is required")));
                }
                None => {}
            }
        }
        if errors.is_empty() {
            return None;
        }
        let bodies: Vec<String> = errors.iter().map(Error::body).collect();
        Some(format!("invalid networks: [{}]", bodies.join(" ")))
    }

    fn compare(
        &self,
        kind: &str,
        own: Cidr<'_>,
        others: &[(&str, Option<Cidr<'_>>)],
        errors: &mut Vec<Error>,
    ) {
        let mut add = |with: &str| {
            let detail = format!("shoot {kind} network intersects with {with}");
            errors.push(Error::invalid(&Path::new(""), own.text, &detail));
        };
        for (name, other) in others {
            if other.is_some_and(|other| other.overlaps(own)) {
                add(&format!("seed {name} network"));
            }
        }
        if self.vpn.overlaps(own) {
            add(&format!("default vpn network ({VPN})"));
        }
    }
}

impl<'a> Cidr<'a> {
    fn new(text: &'a str) -> Self {
        Self { text, network: Network::parse(text) }
    }

    /// Whether one contains the base address of the other. What is no network overlaps with everything, as for the
    /// original.
    fn overlaps(self, other: Cidr<'_>) -> bool {
        match (self.network, other.network) {
            (Some(a), Some(b)) => a.contains(b) || b.contains(a),
            _ => true,
        }
    }
}

impl Network {
    /// Parses a network as Go does: an address without zone, a slash, a length in digits. IPv4 networks that are written
    /// as IPv6 are of IPv4.
    fn parse(text: &str) -> Option<Self> {
        let (address, length) = text.split_once('/')?;
        let address: IpAddr = address.parse().ok()?;
        if length.is_empty() || !length.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        // More digits than a number holds is a length beyond every limit.
        let length: u32 = length.parse().ok()?;
        let (bits, width, is_v4) = match address {
            IpAddr::V4(address) => (u128::from(address.to_bits()), 32, true),
            IpAddr::V6(address) => match address.to_ipv4_mapped() {
                Some(inner) if (96..=128).contains(&length) => {
                    return Self::new(inner.to_bits().into(), 32, length - 96, true);
                }
                _ => (address.to_bits(), 128, false),
            },
        };
        Self::new(bits, width, length, is_v4)
    }

    fn new(bits: u128, width: u32, length: u32, is_v4: bool) -> Option<Self> {
        let network = |base| Self { base, length, is_v4 };
        let base = bits << (128 - width);
        (length <= width).then(|| network(base & mask(length)))
    }

    /// Whether the base address of the other is in this network.
    fn contains(self, other: Self) -> bool {
        self.is_v4 == other.is_v4 && other.base & mask(self.length) == self.base
    }
}

/// So many high bits.
fn mask(length: u32) -> u128 {
    u128::MAX.checked_shl(128 - length).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::equal("10.0.0.0/8", "10.0.0.0/8", true)]
    #[case::inside("10.0.0.0/8", "10.250.0.0/16", true)]
    #[case::around("10.250.0.0/16", "10.0.0.0/8", true)]
    #[case::host_bits("10.250.7.9/16", "10.250.0.0/24", true)]
    #[case::beside("10.250.0.0/16", "10.251.0.0/16", false)]
    #[case::all("0.0.0.0/0", "192.0.2.1/32", true)]
    #[case::families("0.0.0.0/0", "::/0", false)]
    #[case::six("2001:db8::/32", "2001:db8:1::/48", true)]
    #[case::six_beside("2001:db8::/32", "2001:db9::/32", false)]
    #[case::mapped("::ffff:10.0.0.0/104", "10.1.0.0/16", true)]
    #[case::mapped_wide("::ffff:10.0.0.0/80", "10.1.0.0/16", false)]
    #[case::no_length("10.0.0.0", "192.0.2.0/24", true)]
    #[case::long("10.0.0.0/33", "192.0.2.0/24", true)]
    #[case::signed("10.0.0.0/+8", "192.0.2.0/24", true)]
    #[case::leading_zero("010.0.0.0/8", "192.0.2.0/24", true)]
    #[case::zone("fe80::1%eth0/64", "192.0.2.0/24", true)]
    #[case::empty("", "192.0.2.0/24", true)]
    #[case::padded_length("10.0.0.0/08", "192.0.2.0/24", false)]
    fn networks_overlap(#[case] a: &str, #[case] b: &str, #[case] want: bool) {
        assert_eq!(Cidr::new(a).overlaps(Cidr::new(b)), want);
        assert_eq!(Cidr::new(b).overlaps(Cidr::new(a)), want);
    }
}
