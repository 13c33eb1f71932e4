//! Cluster IPs and node ports: those of stored Services, and those that pending requests have reserved.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::net::Ipv4Addr;
use std::ops::RangeInclusive;

use parking_lot::{Mutex, MutexGuard};
use serde_json::Value;
use thiserror::Error;

use crate::object::meta;
use crate::store::Store;

/// `10.0.0.0/24`, kube-apiserver's default.
const NETWORK: [u8; 3] = [10, 0, 0];
const HOSTS: RangeInclusive<u8> = 1..=254;
const NODE_PORTS: RangeInclusive<i64> = 30_000..=32_767;
/// The number of addresses and ports, from the first, that are assigned only on request or if no other is free.
const STATIC_HOSTS: u8 = 16;
const STATIC_PORTS: i64 = 86;

/// The reservations of pending requests.
#[derive(Debug, Default)]
pub(crate) struct Pool(Mutex<Allocated>);

/// A reservation of a request, released when this is dropped, after the write.
#[derive(Debug)]
pub(crate) struct Reservation<'a> {
    pool: &'a Pool,
    own: Allocated,
}

/// An allocation for one Service. Other requests wait for it.
pub(super) struct Allocation<'a> {
    pool: &'a Pool,
    store: &'a Store,
    /// The reservations of other requests.
    reserved: MutexGuard<'a, Allocated>,
    /// The allocations of stored Services, computed when they are first needed.
    stored: OnceCell<Allocated>,
    own: Allocated,
    /// The ports that the Service requests, which are not assigned to its other ports.
    requested: BTreeSet<i64>,
    /// Whether the Service has no name, which kube-apiserver needs to allocate an address.
    is_unnamed: bool,
    dry_run: bool,
}

/// The error if an address or port is not available.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub(super) enum AllocationError {
    #[error("the provided network does not match the current range")]
    NetworkMismatch,
    #[error("the provided IP ({0}) is not in the valid range. The range of valid IPs is 10.0.0.0/24")]
    AddressOutOfRange(Ipv4Addr),
    #[error("provided IP is already allocated")]
    AddressTaken,
    #[error("IPAddress.networking.k8s.io \"{0}\" is invalid: spec.parentRef.name: Required value")]
    MissingName(Ipv4Addr),
    #[error(
        "provided port is not in the valid range. The range of valid ports is {}-{}",
        NODE_PORTS.start(),
        NODE_PORTS.end()
    )]
    PortOutOfRange,
    #[error("provided port is already allocated")]
    PortTaken,
    #[error("range is full")]
    Full,
}

#[derive(Clone, Debug, Default)]
struct Allocated {
    addresses: BTreeSet<Ipv4Addr>,
    ports: BTreeSet<i64>,
}

impl Pool {
    /// Begins an allocation for a Service.
    pub(super) fn begin<'a>(&'a self, store: &'a Store, service: &Value, dry_run: bool) -> Allocation<'a> {
        Allocation {
            pool: self,
            store,
            reserved: self.0.lock(),
            stored: OnceCell::new(),
            own: Allocated::default(),
            requested: node_ports(service).collect(),
            is_unnamed: meta::name(service).is_empty(),
            dry_run,
        }
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        let mut reserved = self.pool.0.lock();
        reserved.addresses.retain(|address| !self.own.addresses.contains(address));
        reserved.ports.retain(|port| !self.own.ports.contains(port));
    }
}

impl<'a> Allocation<'a> {
    /// Allocates the requested address. A dry run ignores whether it is free.
    pub(super) fn address(&mut self, requested: &str) -> Result<(), AllocationError> {
        let address: Ipv4Addr = requested.parse().map_err(|_| AllocationError::NetworkMismatch)?;
        let [network @ .., host] = address.octets();
        let within = network == NETWORK && HOSTS.contains(&host);
        match (within, self.dry_run) {
            (false, false) => Err(AllocationError::NetworkMismatch),
            (false, true) => Err(AllocationError::AddressOutOfRange(address)),
            (true, true) => Ok(()),
            (true, false) if self.is_unnamed => Err(AllocationError::MissingName(address)),
            (true, false) if self.has_address(address) => Err(AllocationError::AddressTaken),
            (true, false) => {
                self.own.addresses.insert(address);
                Ok(())
            }
        }
    }

    /// Allocates the first free address.
    pub(super) fn next_address(&mut self) -> Result<Ipv4Addr, AllocationError> {
        let (first, dynamic) = (*HOSTS.start(), HOSTS.start() + STATIC_HOSTS);
        let mut all = (dynamic..=*HOSTS.end()).chain(first..dynamic).map(address);
        let free = all.find(|address| !self.has_address(*address)).ok_or(AllocationError::Full)?;
        if self.is_unnamed && !self.dry_run {
            return Err(AllocationError::MissingName(free));
        }
        self.own.addresses.insert(free);
        Ok(free)
    }

    /// Allocates the requested port. As in kube-apiserver, a dry run accepts any number.
    pub(super) fn port(&mut self, requested: i64) -> Result<(), AllocationError> {
        if !self.dry_run && !NODE_PORTS.contains(&requested) {
            return Err(AllocationError::PortOutOfRange);
        }
        if self.has_port(requested) {
            return Err(AllocationError::PortTaken);
        }
        self.own.ports.insert(requested);
        Ok(())
    }

    /// Allocates the first free port that the Service does not request.
    pub(super) fn next_port(&mut self) -> Result<i64, AllocationError> {
        let free = |port: &i64| !self.requested.contains(port) && !self.has_port(*port);
        let (first, dynamic) = (*NODE_PORTS.start(), NODE_PORTS.start() + STATIC_PORTS);
        let port =
            (dynamic..=*NODE_PORTS.end()).chain(first..dynamic).find(free).ok_or(AllocationError::Full)?;
        self.own.ports.insert(port);
        Ok(port)
    }

    /// Whether this allocation contains the port.
    pub(super) fn contains_port(&self, port: i64) -> bool {
        self.own.ports.contains(&port)
    }

    /// Reserves what was allocated; a dry run reserves nothing.
    pub(super) fn reserve(mut self) -> Reservation<'a> {
        let own = if self.dry_run { Allocated::default() } else { self.own };
        self.reserved.addresses.extend(&own.addresses);
        self.reserved.ports.extend(&own.ports);
        Reservation { pool: self.pool, own }
    }

    fn has_address(&self, address: Ipv4Addr) -> bool {
        [&self.own, &self.reserved, self.stored()]
            .iter()
            .any(|allocated| allocated.addresses.contains(&address))
    }

    fn has_port(&self, port: i64) -> bool {
        [&self.own, &self.reserved, self.stored()].iter().any(|allocated| allocated.ports.contains(&port))
    }

    fn stored(&self) -> &Allocated {
        self.stored.get_or_init(|| {
            let services = self.store.snapshot("services").objects;
            let of = |service: &Value| service.pointer("/spec/clusterIP")?.as_str()?.parse().ok();
            let addresses = services.values().filter_map(|service| of(service.value()));
            Allocated {
                // The first address belongs to the API server.
                addresses: addresses.chain([address(*HOSTS.start())]).collect(),
                ports: services.values().flat_map(|service| node_ports(service.value())).collect(),
            }
        })
    }
}

/// All node ports of a Service.
fn node_ports(service: &Value) -> impl Iterator<Item = i64> {
    let ports = service.pointer("/spec/ports").and_then(Value::as_array).into_iter().flatten();
    let health = service.pointer("/spec/healthCheckNodePort").and_then(Value::as_i64);
    ports.map(node_port).chain(health).filter(|number| *number != 0)
}

/// The node port of a port; 0 if it has none.
pub(super) fn node_port(port: &Value) -> i64 {
    port.get("nodePort").and_then(Value::as_i64).unwrap_or_default()
}

fn address(host: u8) -> Ipv4Addr {
    let [a, b, c] = NETWORK;
    Ipv4Addr::new(a, b, c, host)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn static_addresses_are_allocated_last_and_none_twice() {
        let (pool, store, service) = (Pool::default(), Store::new(1), json!({"metadata": {"name": "a"}}));
        let allocate = || {
            let mut allocation = pool.begin(&store, &service, false);
            allocation.next_address().map(|address| (address, allocation.reserve()))
        };
        let reserved: Vec<(Ipv4Addr, Reservation<'_>)> = std::iter::from_fn(|| allocate().ok()).collect();
        let addresses: Vec<Ipv4Addr> = reserved.iter().map(|(address, _)| *address).collect();
        // The first address belongs to the API server.
        let want: Vec<Ipv4Addr> = (17..=254).chain(2..=16).map(address).collect();
        assert_eq!(addresses, want);
        assert_eq!(allocate().err(), Some(AllocationError::Full));
        drop(reserved);
        assert_eq!(allocate().map(|(address, _)| address), Ok(address(17)));
    }

    #[test]
    fn a_dry_run_reserves_nothing_and_ignores_owners_of_addresses() {
        let (pool, store, service) = (Pool::default(), Store::new(1), json!({}));
        let begin = |dry_run: bool| pool.begin(&store, &service, dry_run);
        let mut dry = begin(true);
        assert_eq!((dry.address("10.0.0.1"), dry.port(80)), (Ok(()), Ok(())));
        assert_eq!(
            (dry.port(80), dry.address("10.0.1.1")),
            (
                Err(AllocationError::PortTaken),
                Err(AllocationError::AddressOutOfRange(Ipv4Addr::new(10, 0, 1, 1)))
            )
        );
        let _reserved = dry.reserve();
        let mut real = begin(false);
        assert_eq!((real.port(80), real.next_port()), (Err(AllocationError::PortOutOfRange), Ok(30_086)));
        assert_eq!(real.address("10.0.0.9"), Err(AllocationError::MissingName(address(9))));
    }
}
