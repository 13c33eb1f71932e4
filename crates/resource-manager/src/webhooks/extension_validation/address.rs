//! IP addresses and ranges, parsed as in Go.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// An IP range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    /// Its first address.
    pub(super) first: IpAddr,
    /// Length of the prefix.
    bits: u32,
}

impl Range {
    /// Parses `address/bits`; the address is masked.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (address, bits) = text.split_once('/')?;
        if bits.is_empty() || !bits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let bits: u32 = bits.parse().ok()?;
        let size = |address| if matches!(address, IpAddr::V4(_)) { 32 } else { 128 };
        let address: IpAddr = address.parse().ok().filter(|address| bits <= size(*address))?;
        Some(Self { first: masked(address, bits), bits }.unmapped())
    }

    /// Whether one of the ranges contains the first address of the other.
    pub(super) fn overlaps(&self, other: &Self) -> bool {
        self.contains(other.first) || other.contains(self.first)
    }

    fn contains(&self, address: IpAddr) -> bool {
        address.is_ipv4() == self.first.is_ipv4() && masked(address, self.bits) == self.first
    }

    /// Converts an IPv4-mapped IPv6 range to IPv4.
    fn unmapped(self) -> Self {
        match (self.first.to_canonical(), self.bits.checked_sub(96)) {
            (first @ IpAddr::V4(_), Some(bits)) if self.first.is_ipv6() => Self { first, bits },
            _ => self,
        }
    }
}

/// Parses an address; octets may have leading zeros, and an IPv4-mapped IPv6 address becomes IPv4.
pub(super) fn parse_sloppy(text: &str) -> Option<IpAddr> {
    if !text.contains(':') {
        return octets(text).map(IpAddr::V4);
    }
    let plain = match text.rsplit_once(':') {
        Some((head, tail)) if tail.contains('.') => format!("{head}:{}", octets(tail)?),
        _ => text.to_owned(),
    };
    Some(plain.parse::<Ipv6Addr>().ok()?.to_canonical())
}

fn octets(text: &str) -> Option<Ipv4Addr> {
    let octet = |part: &str| {
        let digits = part.trim_start_matches('0');
        let plain = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        plain.then(|| if digits.is_empty() { Ok(0) } else { digits.parse::<u8>() })?.ok()
    };
    let parts: Option<Vec<u8>> = text.split('.').map(octet).collect();
    <[u8; 4]>::try_from(parts?).ok().map(Ipv4Addr::from)
}

fn masked(address: IpAddr, bits: u32) -> IpAddr {
    match address {
        IpAddr::V4(address) => {
            let mask = u32::MAX.checked_shl(32_u32.saturating_sub(bits)).unwrap_or(0);
            IpAddr::V4(Ipv4Addr::from_bits(address.to_bits() & mask))
        }
        IpAddr::V6(address) => {
            let mask = u128::MAX.checked_shl(128_u32.saturating_sub(bits)).unwrap_or(0);
            IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & mask))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_parsed_as_in_go() {
        let read = |text: &str| parse_sloppy(text).map(|address| address.to_string());
        for (text, address) in [
            ("192.0.2.1", Some("192.0.2.1")),
            ("192.000.02.001", Some("192.0.2.1")),
            ("::ffff:192.0.2.1", Some("192.0.2.1")),
            ("64:ff9b::192.0.02.1", Some("64:ff9b::c000:201")),
            ("2001:db8::", Some("2001:db8::")),
            ("192.0.2", None),
            ("192.0.2.1.1", None),
            ("192.0.2.256", None),
            ("192.0.2.", None),
            ("192.0.2.-1", None),
            ("2001:db8::1%eth0", None),
            ("", None),
        ] {
            assert_eq!(read(text).as_deref(), address, "{text:?}");
        }
    }

    #[test]
    fn ranges_are_parsed_as_in_go() {
        let first = |text: &str| Range::parse(text).map(|range| range.first.to_string());
        for (text, address) in [
            ("10.1.2.3/8", Some("10.0.0.0")),
            ("10.1.2.3/0", Some("0.0.0.0")),
            ("10.1.2.3/032", Some("10.1.2.3")),
            ("::ffff:10.1.2.3/104", Some("10.0.0.0")),
            ("::ffff:10.1.2.3/64", Some("::")),
            ("2001:db8::1/128", Some("2001:db8::1")),
            ("::1/0", Some("::")),
            ("10.0.0.0/33", None),
            ("10.0.0.0/+8", None),
            ("10.0.0.0/", None),
            ("10.0.0.0", None),
            ("10.0.0.01/8", None),
            ("2001:db8::1/129", None),
            ("10.0.0.0/99999999999", None),
        ] {
            assert_eq!(first(text).as_deref(), address, "{text:?}");
        }
    }

    #[test]
    fn ranges_of_different_families_do_not_overlap() {
        let all = ["0.0.0.0/0", "10.0.0.0/8", "10.9.0.0/16", "11.0.0.0/8", "::/0", "::ffff:10.0.0.0/104"];
        let ranges: Vec<Range> = all.iter().filter_map(|text| Range::parse(text)).collect();
        let overlap: Vec<Vec<usize>> = ranges
            .iter()
            .map(|a| (0..ranges.len()).filter(|index| a.overlaps(&ranges[*index])).collect())
            .collect();
        assert_eq!(
            overlap,
            [vec![0, 1, 2, 3, 5], vec![0, 1, 2, 5], vec![0, 1, 2, 5], vec![0, 3], vec![4], vec![0, 1, 2, 5]]
        );
    }
}
