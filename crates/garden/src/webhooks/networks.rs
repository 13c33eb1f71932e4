//! Networks of a cluster, which must be apart.

use std::net::IpAddr;

use webhook::field::{Error, Path};

use super::cidr::Cidr;
use super::field_errors::FieldErrors;

/// The network between the control planes and nodes of shoots, `v1beta1constants.DefaultVPNRange`.
pub(crate) const VPN: &str = "192.168.123.0/24";

/// Texts with their fields: all must be networks of IPv4, and overlap neither each other nor that of the VPN.
pub(super) fn validate(networks: &[(Path, &str)]) -> FieldErrors {
    let mut errors = FieldErrors::new();
    let mut parsed = Vec::new();
    for (at, text) in networks {
        match Cidr::parse(text) {
            Ok(network) => parsed.push((at, *text, network)),
            Err(error) => errors.push(Error::invalid(at, *text, &error.to_string())),
        }
    }
    let others = parsed.iter().filter(|(_, _, network)| !network.is_v4());
    errors.extend(others.map(|(at, _, network)| {
        Error::invalid(at, network.network().to_string().as_str(), "must be a valid IPv4 address")
    }));
    for (index, (at, text, network)) in parsed.iter().enumerate() {
        let later = parsed.iter().skip(index + 1).filter(|(_, _, other)| overlap(*network, *other));
        errors.extend(later.map(|(later, shown, _)| apart(later, shown, &at.to_string(), text)));
    }
    if let Ok(vpn) = Cidr::parse(VPN) {
        let overlapping = parsed.iter().filter(|(_, _, network)| overlap(vpn, *network));
        errors.extend(overlapping.map(|(at, shown, _)| apart(at, shown, "", VPN)));
    }
    errors
}

fn apart(at: &Path, shown: &str, other: &str, network: &str) -> Error {
    Error::invalid(at, shown, &format!("must not overlap with \"{other}\" (\"{network}\")"))
}

/// Whether two networks have addresses in common. As in the original, what is no network has some in common with each.
pub(crate) fn intersect(one: &str, other: &str) -> bool {
    match (Cidr::parse(one), Cidr::parse(other)) {
        (Ok(one), Ok(other)) => overlap(one, other),
        _ => true,
    }
}

/// Two networks overlap if one contains the other.
fn overlap(one: Cidr, other: Cidr) -> bool {
    let shorter = one.length.min(other.length);
    match (one.network(), other.network()) {
        (IpAddr::V4(one), IpAddr::V4(other)) => {
            (one.to_bits() ^ other.to_bits()).checked_shr(32 - shorter).unwrap_or_default() == 0
        }
        (IpAddr::V6(one), IpAddr::V6(other)) => {
            (one.to_bits() ^ other.to_bits()).checked_shr(128 - shorter).unwrap_or_default() == 0
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_are_apart_unless_one_contains_the_other() {
        let table = [
            ("10.0.0.0/8", "10.1.0.0/16", true),
            ("10.1.0.0/16", "10.0.0.0/8", true),
            ("10.0.0.0/8", "11.0.0.0/8", false),
            ("0.0.0.0/0", "1.2.3.4/32", true),
            ("1.2.3.4/32", "1.2.3.5/32", false),
            ("::/0", "1.2.3.4/32", false),
            ("::/0", "2001:db8::/32", true),
            ("2001:db8::/32", "2001:db9::/32", false),
        ];
        for (one, other, overlaps) in table {
            let parse = |text| Cidr::parse(text).expect("it is a network");
            assert_eq!(overlap(parse(one), parse(other)), overlaps, "{one} {other}");
            assert_eq!(intersect(one, other), overlaps, "{one} {other}");
        }
        assert!(intersect("a", "10.0.0.0/8") && intersect("10.0.0.0/8", ""));
    }
}
