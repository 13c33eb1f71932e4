//! The addresses of the host name of the runtime cluster's API server, which may have others outside of its cluster than
//! inside.

use std::net::IpAddr;
use std::time::Duration;

use controller::Store;
use controller::source::{Requests, Source, Started};
use http::Uri;
use k8s_openapi::api::core::v1::{EndpointAddress, EndpointPort, EndpointSubset, Namespace};
use tokio::net::lookup_host;
use tokio::sync::watch;

use super::sources::all_namespaces;

/// Time between two look-ups.
const PERIOD: Duration = Duration::from_secs(30);
/// Port of API servers whose URL has none.
const DEFAULT_PORT: u16 = 443;

/// Host name and port of an API server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiServerHost {
    name: String,
    port: u16,
}

impl ApiServerHost {
    /// The host of a URL if that is a name, else that of the service (`KUBERNETES_SERVICE_HOST`, `KUBERNETES_SERVICE_PORT`)
    /// if that is one; `None`: it has addresses only.
    #[must_use]
    pub fn of(url: &Uri, service: Option<(&str, &str)>) -> Option<Self> {
        let host = url.host().unwrap_or_default();
        if is_name(host) {
            return Some(Self { name: host.to_owned(), port: url.port_u16().unwrap_or(DEFAULT_PORT) });
        }
        let (name, port) = service.filter(|(name, port)| is_name(name) && !port.is_empty())?;
        Some(Self { name: name.to_owned(), port: port.parse().unwrap_or_default() })
    }

    fn subset(&self, addresses: &[String]) -> Vec<EndpointSubset> {
        if addresses.is_empty() {
            return Vec::new();
        }
        let port = EndpointPort {
            port: i32::from(self.port),
            protocol: Some("TCP".to_owned()),
            ..EndpointPort::default()
        };
        let address = |ip: &String| EndpointAddress { ip: ip.clone(), ..EndpointAddress::default() };
        vec![EndpointSubset {
            addresses: Some(addresses.iter().map(address).collect()),
            ports: Some(vec![port]),
            not_ready_addresses: None,
        }]
    }
}

fn is_name(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    !host.is_empty() && bare.parse::<IpAddr>().is_err()
}

/// Looks the addresses up again and again; enqueues all namespaces when they change.
pub(super) struct Resolver {
    pub(super) host: ApiServerHost,
    pub(super) resolved: watch::Sender<Vec<EndpointSubset>>,
    pub(super) namespaces: Store<Namespace>,
}

impl Source for Resolver {
    fn describe(&self) -> String {
        format!("addresses of {}", self.host.name)
    }

    fn start(self: Box<Self>, queue: &Requests) -> Started {
        let queue = queue.clone();
        let run = async move { self.run(&queue).await };
        Started { synced: Box::pin(std::future::ready(())), run: Box::pin(run) }
    }
}

impl Resolver {
    async fn run(&self, queue: &Requests) {
        loop {
            match self.look_up().await {
                Ok(true) => {
                    for request in all_namespaces(&self.namespaces) {
                        queue.add(request);
                    }
                }
                Ok(false) => {}
                Err(error) => tracing::error!(%error, "Could not resolve upstream hostname"),
            }
            tokio::time::sleep(PERIOD).await;
        }
    }

    /// Whether the addresses have changed.
    async fn look_up(&self) -> std::io::Result<bool> {
        let found = lookup_host((self.host.name.as_str(), self.host.port)).await?;
        let mut addresses: Vec<String> = found.map(|address| address.ip().to_string()).collect();
        addresses.sort_unstable();
        addresses.dedup();
        let subset = self.host.subset(&addresses);
        Ok(self.resolved.send_if_modified(|known| {
            let is_changed = *known != subset;
            if is_changed {
                tracing::info!(resolvedIPs = ?addresses, "Updated resolved addressed");
                *known = subset;
            }
            is_changed
        }))
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("https://api.example.com:6443", None, Some(("api.example.com", 6443)))]
    #[case("https://api.example.com", Some(("kubernetes", "1")), Some(("api.example.com", 443)))]
    #[case("https://10.0.0.1:443", None, None)]
    #[case("https://10.0.0.1", Some(("api.example.com", "6443")), Some(("api.example.com", 6443)))]
    #[case("https://10.0.0.1", Some(("10.0.0.1", "443")), None)]
    #[case("https://10.0.0.1", Some(("api.example.com", "")), None)]
    #[case("https://[fd00::1]:443", None, None)]
    fn a_host_is_looked_up_if_it_has_a_name(
        #[case] url: &str,
        #[case] service: Option<(&str, &str)>,
        #[case] host: Option<(&str, u16)>,
    ) {
        let host = host.map(|(name, port)| ApiServerHost { name: name.to_owned(), port });
        assert_eq!(ApiServerHost::of(&url.parse().unwrap(), service), host);
    }

    #[test]
    fn addresses_are_one_subset_with_the_port() {
        let host = ApiServerHost { name: "api.example.com".to_owned(), port: 6443 };
        assert_eq!(host.subset(&[]), []);
        let subsets = serde_json::json!(host.subset(&["10.0.0.1".to_owned(), "10.0.0.2".to_owned()]));
        let want = serde_json::json!([{
            "addresses": [{"ip": "10.0.0.1"}, {"ip": "10.0.0.2"}],
            "ports": [{"port": 6443, "protocol": "TCP"}],
        }]);
        assert_eq!(subsets, want);
    }
}
