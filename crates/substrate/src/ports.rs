//! Free ports for servers: outside the range from which the system takes the ports of outgoing connections.
//!
//! Between the choice of a port and its server's start, and whenever a server restarts, a connection of any process
//! could otherwise take the port.

use std::collections::hash_map::RandomState;
use std::fs;
use std::hash::BuildHasher as _;
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The file in which Linux states the ports of outgoing connections.
const OUTGOING: &str = "/proc/sys/net/ipv4/ip_local_port_range";
/// What it states on most systems.
const USUAL_OUTGOING: (u16, u16) = (32_768, 60_999);
/// Lower ones belong to well-known services.
const LOWEST: u16 = 10_000;
/// A range with fewer ports than this is too narrow for tests that run side by side.
const FEWEST: usize = 1_000;

/// Different ports of loopback that are currently free.
///
/// # Errors
/// When the operating system provides none.
pub fn free_ports(count: usize) -> io::Result<Vec<u16>> {
    let ports = for_servers();
    // Holds all ports until all are known, so that none is returned twice.
    let mut listeners: Vec<TcpListener> = Vec::with_capacity(count);
    for _ in 0..ports.len() {
        if listeners.len() == count {
            break;
        }
        listeners.extend(TcpListener::bind((Ipv4Addr::LOCALHOST, next(&ports))).ok());
    }
    while listeners.len() < count {
        listeners.push(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?);
    }
    listeners.iter().map(|listener| Ok(listener.local_addr()?.port())).collect()
}

/// The ports that the system gives to no outgoing connection.
fn for_servers() -> Range<u16> {
    static PORTS: OnceLock<Range<u16>> = OnceLock::new();
    PORTS.get_or_init(|| beside(fs::read_to_string(OUTGOING).ok().as_deref())).clone()
}

/// The larger range of ports below or above those in `stated`.
fn beside(stated: Option<&str>) -> Range<u16> {
    let numbers = stated.map(|text| text.split_whitespace().map(str::parse).collect::<Result<Vec<u16>, _>>());
    let (first, last) = match numbers {
        Some(Ok(numbers)) if numbers.len() == 2 => (numbers[0], numbers[1]),
        _ => USUAL_OUTGOING,
    };
    let (below, above) = (LOWEST..first.max(LOWEST), last.max(LOWEST)..u16::MAX);
    let larger = if below.len() >= above.len() { below } else { above };
    // Without room beside them, any port is as good as another.
    if larger.len() < FEWEST { LOWEST..u16::MAX } else { larger }
}

/// Ports of a range, one after the other: a process returns to a port when it has been through all, and begins at a place
/// that differs from those of other processes.
fn next(ports: &Range<u16>) -> u16 {
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    static PROCESS: OnceLock<usize> = OnceLock::new();
    let length = ports.len() as u64;
    let begin =
        *PROCESS.get_or_init(|| usize::try_from(RandomState::new().hash_one(0) % length).unwrap_or_default());
    let offset = begin.wrapping_add(CALLS.fetch_add(1, Ordering::Relaxed)) % ports.len();
    ports.start + u16::try_from(offset).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn ports_differ_and_are_not_those_of_outgoing_connections() {
        let ports: BTreeSet<u16> = free_ports(20).unwrap().into_iter().collect();
        assert_eq!(ports.len(), 20);
        let allowed = for_servers();
        assert!(ports.iter().all(|port| allowed.contains(port)), "{ports:?} in {allowed:?}");
    }

    #[test]
    fn a_port_in_use_is_not_returned() {
        let held: Vec<TcpListener> = free_ports(3)
            .unwrap()
            .into_iter()
            .map(|port| TcpListener::bind((Ipv4Addr::LOCALHOST, port)).unwrap())
            .collect();
        let held: BTreeSet<u16> = held.iter().map(|listener| listener.local_addr().unwrap().port()).collect();
        let found: BTreeSet<u16> = free_ports(200).unwrap().into_iter().collect();
        assert!(found.is_disjoint(&held));
    }

    #[test]
    fn the_larger_range_beside_outgoing_connections_is_chosen() {
        let table = [
            (Some("32768\t60999\n"), 10_000..32_768),
            (Some("10000 30000"), 30_000..65_535),
            (Some("1024 65535"), 10_000..65_535),
            (Some("a b"), 10_000..32_768),
            (None, 10_000..32_768),
        ];
        for (stated, want) in table {
            assert_eq!(beside(stated), want, "{stated:?}");
        }
    }

    #[test]
    fn a_process_does_not_return_to_a_port_soon() {
        let ports: Vec<u16> = (0..100).flat_map(|_| free_ports(3).unwrap()).collect();
        let different: BTreeSet<u16> = ports.iter().copied().collect();
        assert_eq!(different.len(), ports.len());
    }
}
