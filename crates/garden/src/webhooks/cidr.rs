//! Networks in CIDR notation, as Go's `net.ParseCIDR` reads them.

use std::net::IpAddr;

/// A network: an address, and the length of its prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cidr {
    address: IpAddr,
    /// Length of the prefix.
    pub(super) length: u32,
}

/// Reason a text is not a network, with Go's message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid CIDR address: {0}")]
pub(super) struct CidrError(String);

impl Cidr {
    /// Parses a network.
    pub(super) fn parse(text: &str) -> Result<Self, CidrError> {
        let parsed = || {
            let (address, length) = text.split_once('/')?;
            let is_number = !length.is_empty() && length.bytes().all(|byte| byte.is_ascii_digit());
            let address: IpAddr = address.parse().ok()?;
            let length = length.parse().ok().filter(|length| is_number && *length <= bits(address))?;
            Some(Self { address, length })
        };
        parsed().ok_or_else(|| CidrError(text.to_owned()))
    }

    /// Whether it is a network of IPv4.
    pub(super) fn is_v4(self) -> bool {
        self.address.is_ipv4()
    }

    /// The first address of the network.
    pub(super) fn network(self) -> IpAddr {
        let below = bits(self.address) - self.length;
        match self.address {
            IpAddr::V4(address) => {
                let mask = u32::MAX.checked_shl(below).unwrap_or_default();
                IpAddr::V4((address.to_bits() & mask).into())
            }
            IpAddr::V6(address) => {
                let mask = u128::MAX.checked_shl(below).unwrap_or_default();
                IpAddr::V6((address.to_bits() & mask).into())
            }
        }
    }
}

fn bits(address: IpAddr) -> u32 {
    if address.is_ipv4() { 32 } else { 128 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_is_read_as_go_reads_it() {
        let table = [
            ("10.250.0.0/16", Some("10.250.0.0")),
            ("10.250.1.0/16", Some("10.250.0.0")),
            ("1.2.3.4/0", Some("0.0.0.0")),
            ("1.2.3.4/32", Some("1.2.3.4")),
            ("2001:db8::1/64", Some("2001:db8::")),
            ("::/0", Some("::")),
            ("1.2.3.4/08", Some("1.0.0.0")),
            ("1.2.3.4/33", None),
            ("1.2.3.4/+8", None),
            ("1.2.3.4/", None),
            ("1.2.3.4", None),
            ("01.2.3.4/8", None),
            ("fe80::1%a/64", None),
            ("::/129", None),
        ];
        for (text, want) in table {
            let read = Cidr::parse(text).ok().map(|cidr| cidr.network().to_string());
            assert_eq!(read, want.map(str::to_owned), "{text}");
        }
        assert_eq!(Cidr::parse("a").unwrap_err().to_string(), "invalid CIDR address: a");
    }
}
