//! The address of a client configuration, as kube-apiserver computes it.

use super::ClientConfig;
use crate::url::{Url, UrlError, request_path};

/// A host and a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// `host` or `host:port`; for a Service always with the port: `name.namespace.svc:443`.
    pub host: String,
    /// `/path`, joined and escaped.
    pub path: String,
}

/// Reason a client configuration has no address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// It has neither `url` nor `service`, or both.
    #[error("exactly one of url or service is required")]
    NotOne,
    /// Its `url` is invalid.
    #[error(transparent)]
    Url(#[from] UrlError),
}

impl ClientConfig {
    /// The address.
    ///
    /// # Errors
    /// If it does not have exactly one of `url` and `service`, or its `url` is invalid.
    pub fn address(&self) -> Result<Address, AddressError> {
        match (&self.url, &self.service) {
            (Some(url), None) => {
                let url = Url::parse(url)?;
                Ok(Address { path: url.request_path(), host: url.host })
            }
            (None, Some(service)) => {
                let port = service.port.unwrap_or(443);
                let path = service.path.as_deref().unwrap_or_default();
                Ok(Address {
                    host: format!("{}.{}.svc:{port}", service.name, service.namespace),
                    path: request_path(path.as_bytes()),
                })
            }
            _ => Err(AddressError::NotOne),
        }
    }
}

impl Address {
    /// `host:port`; the default port is 443.
    #[must_use]
    pub fn authority(&self) -> String {
        let host = self.host.strip_suffix(':').unwrap_or(&self.host);
        let after = host.rsplit_once(']').map_or(host, |(_, after)| after);
        if after.contains(':') { host.to_owned() } else { format!("{host}:443") }
    }
}

#[cfg(test)]
mod tests {
    use super::super::ServiceReference;
    use super::*;

    fn by_url(url: &str) -> ClientConfig {
        ClientConfig { url: Some(url.to_owned()), ..ClientConfig::default() }
    }

    fn by_service(path: Option<&str>, port: Option<u16>) -> ClientConfig {
        let path = path.map(str::to_owned);
        let service = ServiceReference { namespace: "n".to_owned(), name: "s".to_owned(), path, port };
        ClientConfig { service: Some(service), ..ClientConfig::default() }
    }

    #[test]
    fn paths_are_joined_as_client_go_joins_them() {
        let table = [
            (by_url("https://h//hooks/a"), "h", "h:443", "/hooks/a"),
            (by_url("https://h:1/hooks/a/"), "h:1", "h:1", "/hooks/a"),
            (by_url("https://h:/hooks//d"), "h:", "h:443", "/hooks/d"),
            (by_url("https://[::1]/hooks/../b/./c"), "[::1]", "[::1]:443", "/b/c"),
            (by_url("https://[::1]:1/a%2Fb"), "[::1]:1", "[::1]:1", "/a/b"),
            (by_service(Some("/hooks/a/"), None), "s.n.svc:443", "s.n.svc:443", "/hooks/a"),
            (by_service(Some("a"), Some(9443)), "s.n.svc:9443", "s.n.svc:9443", "/a"),
            (by_service(None, None), "s.n.svc:443", "s.n.svc:443", "/"),
        ];
        for (config, host, authority, path) in table {
            let address = config.address().unwrap();
            assert_eq!(address, Address { host: host.to_owned(), path: path.to_owned() });
            assert_eq!(address.authority(), authority);
        }
        assert_eq!(ClientConfig::default().address(), Err(AddressError::NotOne));
        assert!(matches!(by_url("https://[").address(), Err(AddressError::Url(_))));
    }
}
