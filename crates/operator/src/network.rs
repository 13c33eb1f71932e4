//! Networks in CIDR notation, as Go reads and prints them.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A network: its base address in the high bits, its length, and whether it is of IPv4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Network {
    base: u128,
    length: u32,
    is_v4: bool,
}

/// Why a network has no address at an offset; texts are the original's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum OffsetError {
    #[error("cannot compute IP with offset {offset} - subnet \"{network}\" too small")]
    TooSmall { offset: u128, network: Network },
    #[error("computed IPv4 address \"{address}\" is broadcast for subnet \"{network}\"")]
    Broadcast { address: IpAddr, network: Network },
}

impl Network {
    /// Parses a network as Go does: IPv4 networks that are written as IPv6 are of IPv4.
    pub(crate) fn parse(text: &str) -> Option<Self> {
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

    /// A network of one address.
    pub(crate) fn of(address: IpAddr) -> Self {
        match address {
            IpAddr::V4(address) => {
                Self { base: u128::from(address.to_bits()) << 96, length: 32, is_v4: true }
            }
            IpAddr::V6(address) => Self { base: address.to_bits(), length: 128, is_v4: false },
        }
    }

    /// Whether the other network begins in this one.
    pub(crate) fn contains(self, other: Self) -> bool {
        self.is_v4 == other.is_v4 && other.base & mask(self.length) == self.base
    }

    /// Whether the other network is a part of this one, and not the whole.
    pub(crate) fn has_part(self, other: Self) -> bool {
        self.contains(other) && self.length < other.length
    }

    /// The address so many after its base.
    ///
    /// # Errors
    /// When the network has no such address, or it is that of broadcasts.
    pub(crate) fn address_at(self, offset: u128) -> Result<IpAddr, OffsetError> {
        let unit = if self.is_v4 { 96 } else { 0 };
        let bits = self.base.checked_add(offset << unit).filter(|bits| bits & mask(self.length) == self.base);
        let bits = bits.ok_or(OffsetError::TooSmall { offset, network: self })?;
        let address = self.to_address(bits);
        let hosts = !mask(self.length) & (u128::MAX << unit);
        if self.is_v4 && bits & hosts == hosts {
            return Err(OffsetError::Broadcast { address, network: self });
        }
        Ok(address)
    }

    fn to_address(self, bits: u128) -> IpAddr {
        if self.is_v4 {
            IpAddr::V4(Ipv4Addr::from_bits(u32::try_from(bits >> 96).unwrap_or_default()))
        } else {
            IpAddr::V6(Ipv6Addr::from_bits(bits))
        }
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.to_address(self.base), self.length)
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
    #[case("10.2.0.0/16", Some("10.2.0.0/16"))]
    #[case("10.2.3.4/16", Some("10.2.0.0/16"))]
    #[case("::ffff:10.2.0.0/112", Some("10.2.0.0/16"))]
    #[case("fd00:1::5/64", Some("fd00:1::/64"))]
    #[case("0.0.0.0/0", Some("0.0.0.0/0"))]
    #[case("10.2.0.0", None)]
    #[case("10.2.0.0/33", None)]
    #[case("10.2.0.0/+8", None)]
    fn a_network_is_printed_with_its_base(#[case] text: &str, #[case] printed: Option<&str>) {
        assert_eq!(Network::parse(text).map(|network| network.to_string()).as_deref(), printed);
    }

    #[rstest]
    #[case("10.2.0.0/16", "10.2.0.10")]
    #[case("fd00::/108", "fd00::a")]
    #[case("10.2.0.0/29", "cannot compute IP with offset 10 - subnet \"10.2.0.0/29\" too small")]
    #[case(
        "255.255.255.248/29",
        "cannot compute IP with offset 10 - subnet \"255.255.255.248/29\" too small"
    )]
    fn the_tenth_address_is_in_the_network(#[case] network: &str, #[case] address: &str) {
        let found = Network::parse(network).unwrap().address_at(10);
        assert_eq!(found.map_or_else(|error| error.to_string(), |found| found.to_string()), address);
    }

    #[test]
    fn the_last_address_is_that_of_broadcasts() {
        let error = Network::parse("10.2.0.0/28").unwrap().address_at(15).unwrap_err().to_string();
        assert_eq!(error, "computed IPv4 address \"10.2.0.15\" is broadcast for subnet \"10.2.0.0/28\"");
    }

    #[rstest]
    #[case("10.0.0.0/8", "10.1.0.0/16", true)]
    #[case("10.0.0.0/8", "10.0.0.0/8", false)]
    #[case("10.0.0.0/8", "0.0.0.0/0", false)]
    #[case("10.0.0.0/8", "11.0.0.0/16", false)]
    #[case("0.0.0.0/0", "::/64", false)]
    fn a_part_is_smaller_than_the_whole(#[case] whole: &str, #[case] part: &str, #[case] is_part: bool) {
        let [whole, part] = [whole, part].map(|text| Network::parse(text).unwrap());
        assert_eq!(whole.has_part(part), is_part);
    }

    #[test]
    fn an_address_is_a_network() {
        let networks = ["10.1.2.3", "fd00::1"].map(|text| Network::of(text.parse().unwrap()).to_string());
        assert_eq!(networks, ["10.1.2.3/32", "fd00::1/128"]);
    }
}
