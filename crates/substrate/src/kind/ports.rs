//! Published ports of a cluster's nodes: Services with these node ports are reachable from outside over TCP, without
//! the API server.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::ops::RangeInclusive;

use super::{Kind, KindError};

/// The published ports. An API server never allocates the first ports of its range unless a Service requests them.
pub const PORTS: RangeInclusive<u16> = 30_000..=30_071;

/// The port mappings for `kind`'s configuration; only the engine knows which ports are free at `address`.
pub(super) fn mappings(address: Option<&str>) -> String {
    let address = address.unwrap_or("127.0.0.1");
    let each = PORTS.map(|port| {
        format!("  - {{containerPort: {port}, listenAddress: \"{address}\", hostPort: -1, protocol: TCP}}\n")
    });
    format!("  extraPortMappings:\n{}", each.collect::<String>())
}

impl Kind {
    /// The addresses of its [`PORTS`].
    ///
    /// # Errors
    /// When the engine does not report them, or the cluster was created without them.
    pub async fn published(&self) -> Result<BTreeMap<u16, SocketAddr>, KindError> {
        let node = format!("{}-control-plane", self.name);
        let step = "parse the published ports of its node";
        let output = self.programs.docker.query(&["port", &node], step).await?;
        let published = parse(&output);
        if PORTS.clone().all(|port| published.contains_key(&port)) {
            return Ok(published);
        }
        Err(KindError::Unpublished { name: self.name.clone() })
    }
}

/// Parses lines such as `30000/tcp -> 127.0.0.1:49153`.
fn parse(output: &str) -> BTreeMap<u16, SocketAddr> {
    let line = |line: &str| {
        let (port, address) = line.split_once("/tcp -> ")?;
        Some((port.parse().ok()?, address.parse().ok()?))
    };
    output.lines().filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_ports_are_parsed_line_by_line() {
        let output = "30000/tcp -> 127.0.0.1:49153\n30001/tcp -> 192.0.2.1:49154\n6443/tcp -> 127.0.0.1:40001\n30002/udp -> \
                    127.0.0.1:1\n";
        let want = [
            (6443, "127.0.0.1:40001".parse().unwrap()),
            (30_000, "127.0.0.1:49153".parse().unwrap()),
            (30_001, "192.0.2.1:49154".parse().unwrap()),
        ];
        assert_eq!(parse(output), BTreeMap::from(want));
    }
}
