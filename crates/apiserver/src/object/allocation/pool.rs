//! Addresses and ports on nodes: those of services that are written, and those that requests hold until they are.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::net::Ipv4Addr;
use std::ops::RangeInclusive;

use parking_lot::{Mutex, MutexGuard};
use serde_json::Value;
use thiserror::Error;

use super::ports::numbers;
use crate::object::meta;
use crate::store::Store;

/// `10.0.0.0/24`, as a server has it that is not told another one.
const NETWORK: [u8; 3] = [10, 0, 0];
const HOSTS: RangeInclusive<u8> = 1..=254;
const NODE_PORTS: RangeInclusive<i64> = 30_000..=32_767;
/// What is kept for those who name it, as long as there is something else: so many addresses and ports, the first ones.
const KEPT_HOSTS: u8 = 16;
const KEPT_PORTS: i64 = 86;

/// What requests hold that have not written it yet.
#[derive(Debug, Default)]
pub(crate) struct Pool(Mutex<Taken>);

/// What a request holds: nobody else is given it until this is dropped, which is after the write.
#[derive(Debug)]
pub(crate) struct Held<'a> {
    pool: &'a Pool,
    own: Taken,
}

/// A request that takes what its service needs; nobody else takes anything meanwhile.
pub(super) struct Taking<'a> {
    pool: &'a Pool,
    store: &'a Store,
    /// What other requests hold.
    held: MutexGuard<'a, Taken>,
    /// What services have; nobody looks at them for whoever wants nothing.
    written: OnceCell<Taken>,
    own: Taken,
    /// Which numbers the service names, and gets for nothing else.
    named: BTreeSet<i64>,
    /// Whether the service has no name, so that no address can be its own.
    nameless: bool,
    dry_run: bool,
}

/// Why something cannot be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub(super) enum Unfit {
    #[error("the provided network does not match the current range")]
    Network,
    #[error("the provided IP ({0}) is not in the valid range. The range of valid IPs is 10.0.0.0/24")]
    Address(Ipv4Addr),
    #[error("provided IP is already allocated")]
    AddressTaken,
    #[error("IPAddress.networking.k8s.io \"{0}\" is invalid: spec.parentRef.name: Required value")]
    Nameless(Ipv4Addr),
    #[error(
        "provided port is not in the valid range. The range of valid ports is {}-{}",
        NODE_PORTS.start(),
        NODE_PORTS.end()
    )]
    Port,
    #[error("provided port is already allocated")]
    PortTaken,
    #[error("range is full")]
    Full,
}

#[derive(Clone, Debug, Default)]
struct Taken {
    addresses: BTreeSet<Ipv4Addr>,
    ports: BTreeSet<i64>,
}

impl Pool {
    /// Lets a request take what `service` needs.
    pub(super) fn begin<'a>(&'a self, store: &'a Store, service: &Value, dry_run: bool) -> Taking<'a> {
        Taking {
            pool: self,
            store,
            held: self.0.lock(),
            written: OnceCell::new(),
            own: Taken::default(),
            named: numbers(service).collect(),
            nameless: meta::name(service).is_empty(),
            dry_run,
        }
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        let mut held = self.pool.0.lock();
        held.addresses.retain(|address| !self.own.addresses.contains(address));
        held.ports.retain(|port| !self.own.ports.contains(port));
    }
}

impl<'a> Taking<'a> {
    /// Takes the address that the service names. A dry run does not see who has it.
    pub(super) fn address(&mut self, named: &str) -> Result<(), Unfit> {
        let address: Ipv4Addr = named.parse().map_err(|_| Unfit::Network)?;
        let [network @ .., host] = address.octets();
        let within = network == NETWORK && HOSTS.contains(&host);
        match (within, self.dry_run) {
            (false, false) => Err(Unfit::Network),
            (false, true) => Err(Unfit::Address(address)),
            (true, true) => Ok(()),
            (true, false) if self.nameless => Err(Unfit::Nameless(address)),
            (true, false) if self.has_address(address) => Err(Unfit::AddressTaken),
            (true, false) => {
                self.own.addresses.insert(address);
                Ok(())
            }
        }
    }

    /// Takes the first address that is free.
    pub(super) fn next_address(&mut self) -> Result<Ipv4Addr, Unfit> {
        let (first, kept) = (*HOSTS.start(), HOSTS.start() + KEPT_HOSTS);
        let mut all = (kept..=*HOSTS.end()).chain(first..kept).map(address);
        let free = all.find(|address| !self.has_address(*address)).ok_or(Unfit::Full)?;
        if self.nameless && !self.dry_run {
            return Err(Unfit::Nameless(free));
        }
        self.own.addresses.insert(free);
        Ok(free)
    }

    /// Takes a port that the service names. As kube-apiserver has it, a dry run takes any number.
    pub(super) fn port(&mut self, named: i64) -> Result<(), Unfit> {
        if !self.dry_run && !NODE_PORTS.contains(&named) {
            return Err(Unfit::Port);
        }
        if self.has_port(named) {
            return Err(Unfit::PortTaken);
        }
        self.own.ports.insert(named);
        Ok(())
    }

    /// Takes the first port that is free and that the service does not name itself.
    pub(super) fn next_port(&mut self) -> Result<i64, Unfit> {
        let free = |port: &i64| !self.named.contains(port) && !self.has_port(*port);
        let (first, kept) = (*NODE_PORTS.start(), NODE_PORTS.start() + KEPT_PORTS);
        let port = (kept..=*NODE_PORTS.end()).chain(first..kept).find(free).ok_or(Unfit::Full)?;
        self.own.ports.insert(port);
        Ok(port)
    }

    /// Whether the service itself took a port.
    pub(super) fn took(&self, port: i64) -> bool {
        self.own.ports.contains(&port)
    }

    /// Holds what was taken; a dry run holds nothing.
    pub(super) fn hold(mut self) -> Held<'a> {
        let own = if self.dry_run { Taken::default() } else { self.own };
        self.held.addresses.extend(&own.addresses);
        self.held.ports.extend(&own.ports);
        Held { pool: self.pool, own }
    }

    fn has_address(&self, address: Ipv4Addr) -> bool {
        [&self.own, &self.held, self.written()].iter().any(|taken| taken.addresses.contains(&address))
    }

    fn has_port(&self, port: i64) -> bool {
        [&self.own, &self.held, self.written()].iter().any(|taken| taken.ports.contains(&port))
    }

    fn written(&self) -> &Taken {
        self.written.get_or_init(|| {
            let services = self.store.snapshot("services").objects;
            let of = |service: &Value| service.pointer("/spec/clusterIP")?.as_str()?.parse().ok();
            let addresses = services.values().filter_map(|service| of(service.value()));
            Taken {
                // The first one is that of the API server.
                addresses: addresses.chain([address(*HOSTS.start())]).collect(),
                ports: services.values().flat_map(|service| numbers(service.value())).collect(),
            }
        })
    }
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
    fn what_is_kept_is_given_last_and_nothing_twice() {
        let (pool, store, service) = (Pool::default(), Store::new(1), json!({"metadata": {"name": "a"}}));
        let given = || {
            let mut taking = pool.begin(&store, &service, false);
            taking.next_address().map(|address| (address, taking.hold()))
        };
        let held: Vec<(Ipv4Addr, Held<'_>)> = std::iter::from_fn(|| given().ok()).collect();
        let addresses: Vec<Ipv4Addr> = held.iter().map(|(address, _)| *address).collect();
        // The first one of all is that of the API server.
        let want: Vec<Ipv4Addr> = (17..=254).chain(2..=16).map(address).collect();
        assert_eq!(addresses, want);
        assert_eq!(given().err(), Some(Unfit::Full));
        drop(held);
        assert_eq!(given().map(|(address, _)| address), Ok(address(17)));
    }

    #[test]
    fn a_dry_run_holds_nothing_and_sees_no_owner_of_an_address() {
        let (pool, store, service) = (Pool::default(), Store::new(1), json!({}));
        let begin = |dry_run: bool| pool.begin(&store, &service, dry_run);
        let mut dry = begin(true);
        assert_eq!((dry.address("10.0.0.1"), dry.port(80)), (Ok(()), Ok(())));
        assert_eq!(
            (dry.port(80), dry.address("10.0.1.1")),
            (Err(Unfit::PortTaken), Err(Unfit::Address(Ipv4Addr::new(10, 0, 1, 1))))
        );
        let _held = dry.hold();
        let mut real = begin(false);
        assert_eq!((real.port(80), real.next_port()), (Err(Unfit::Port), Ok(30_086)));
        assert_eq!(real.address("10.0.0.9"), Err(Unfit::Nameless(address(9))));
    }
}
