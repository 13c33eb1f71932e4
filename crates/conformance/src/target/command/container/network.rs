//! The connections between containers of an engine and this machine.

use std::collections::BTreeSet;
use std::net::IpAddr;

use http::Uri;
use substrate::docker::Engine;

/// The network of an engine's containers, as this machine sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Network {
    /// This machine's network: both have the same loopback address.
    Shared,
    /// A separate network.
    Separate {
        /// The host at which this machine reaches published ports.
        host: String,
        /// The address of the engine's machine on which ports are published.
        listens: String,
        /// How containers reach servers on this machine's loopback address.
        machine: HostAccess,
    },
}

/// How containers reach servers on a machine's loopback address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HostAccess {
    /// By the name [`MACHINE`].
    Named,
    /// Through a relay on the address from which the machine connects to the engine.
    Routed,
    /// Not at all.
    Unreached,
}

/// The machine's name in containers of Docker Desktop.
pub(super) const MACHINE: &str = "host.docker.internal";

impl Network {
    /// The network of an engine that the client reaches at this endpoint.
    pub(super) fn of(engine: &Engine, endpoint: &str) -> Self {
        let apart = |host: &str, listens: &str, machine| Self::Separate {
            host: host.to_owned(),
            listens: listens.to_owned(),
            machine,
        };
        if let Some(address) = &engine.address {
            return apart(address, address, HostAccess::Routed);
        }
        if let Some(host) = remote(endpoint) {
            return apart(&host, "0.0.0.0", HostAccess::Routed);
        }
        if engine.is_desktop || cfg!(not(target_os = "linux")) {
            return apart("127.0.0.1", "127.0.0.1", HostAccess::Named);
        }
        if engine.is_rootless {
            return apart("127.0.0.1", "127.0.0.1", HostAccess::Unreached);
        }
        Self::Shared
    }

    /// The host at which this machine reaches ports of containers.
    pub(super) fn host(&self) -> &str {
        match self {
            Self::Shared => "127.0.0.1",
            Self::Separate { host, .. } => host,
        }
    }

    /// The address at which this machine reaches a server on a container's loopback address.
    pub(super) fn address_from_here(&self, address: &str) -> String {
        match (self, address.parse::<Uri>()) {
            (Self::Separate { host, .. }, Ok(uri)) if uri.host().is_some_and(is_loopback) => {
                with_host(&uri, host, uri.port_u16())
            }
            _ => address.to_owned(),
        }
    }

    /// Its arguments of `docker create`.
    pub(super) fn flags(&self, ports: &BTreeSet<u16>) -> Vec<String> {
        let Self::Separate { listens, .. } = self else {
            // A user namespace excludes the machine's network.
            return ["--network=host", "--userns=host"].map(str::to_owned).to_vec();
        };
        ports.iter().map(|port| format!("--publish={listens}:{port}:{port}")).collect()
    }

    /// A possible reason if a container does not answer.
    pub(super) fn hint(&self) -> &'static str {
        match self {
            Self::Shared => {
                "the engine must run on this machine: an engine behind a mounted socket has another loopback address"
            }
            Self::Separate { .. } => {
                "its ports are published, so it must listen on all addresses and not only on loopback"
            }
        }
    }
}

/// The port of an address, if it has one.
pub(super) fn port(address: &str) -> Option<u16> {
    address.parse::<Uri>().ok()?.port_u16()
}

/// Whether a host of an address is the loopback address.
pub(super) fn is_loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// The same address on another host and port.
pub(super) fn with_host(uri: &Uri, host: &str, port: Option<u16>) -> String {
    let scheme = uri.scheme_str().unwrap_or("https");
    let host = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
    let port = port.map(|port| format!(":{port}")).unwrap_or_default();
    let path = uri.path_and_query().map_or("", |path| path.as_str());
    // The path `/` is the default.
    format!("{scheme}://{host}{port}{}", if path == "/" { "" } else { path })
}

/// The host of an engine on another machine or in another container.
fn remote(endpoint: &str) -> Option<String> {
    let uri: Uri = endpoint.parse().ok()?;
    let is_over_network = matches!(uri.scheme_str(), Some("tcp" | "http" | "https" | "ssh"));
    let host = uri.host().filter(|host| is_over_network && !is_loopback(host))?;
    Some(host.trim_start_matches('[').trim_end_matches(']').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn apart(host: &str, listens: &str, machine: HostAccess) -> Network {
        Network::Separate { host: host.to_owned(), listens: listens.to_owned(), machine }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn an_engine_of_this_machine_shares_its_network_and_others_publish() {
        let plain = Engine::default();
        let private = Engine { address: Some("169.254.77.2".to_owned()), ..Engine::default() };
        let desktop = Engine { is_desktop: true, ..Engine::default() };
        let rootless = Engine { is_rootless: true, ..Engine::default() };
        let here = "unix:///var/run/docker.sock";
        for (engine, endpoint, want) in [
            (&plain, here, Network::Shared),
            (&plain, "tcp://localhost:2375", Network::Shared),
            (&plain, "", Network::Shared),
            (&private, here, apart("169.254.77.2", "169.254.77.2", HostAccess::Routed)),
            (&plain, "tcp://docker:2375", apart("docker", "0.0.0.0", HostAccess::Routed)),
            (&plain, "tcp://[2001:db8::1]:2376", apart("2001:db8::1", "0.0.0.0", HostAccess::Routed)),
            (&plain, "ssh://me@192.0.2.1", apart("192.0.2.1", "0.0.0.0", HostAccess::Routed)),
            (&desktop, here, apart("127.0.0.1", "127.0.0.1", HostAccess::Named)),
            (&rootless, here, apart("127.0.0.1", "127.0.0.1", HostAccess::Unreached)),
        ] {
            assert_eq!(Network::of(engine, endpoint), want, "{endpoint}");
        }
    }

    #[test]
    fn loopback_of_a_container_apart_is_where_its_ports_are_published() {
        let apart = apart("192.0.2.1", "192.0.2.1", HostAccess::Routed);
        for (address, want) in [
            ("https://127.0.0.1:9443", "https://192.0.2.1:9443"),
            ("http://localhost:80/readyz?a=b", "http://192.0.2.1:80/readyz?a=b"),
            ("https://[::1]:9443/x", "https://192.0.2.1:9443/x"),
            ("https://example.test:9443", "https://example.test:9443"),
        ] {
            assert_eq!(apart.address_from_here(address), want);
            assert_eq!(Network::Shared.address_from_here(address), address);
        }
    }
}
