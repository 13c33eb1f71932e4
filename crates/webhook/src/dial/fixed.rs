//! Resolves registered webhooks by a fixed list.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use formats::base64;

use super::{ClientCertificate, Connection, DialError, Dialer, Dialers, Https, InProcess, Target, Trust};
use crate::registration::{Address, ClientConfig};
use crate::service::WebhookService;

/// The target of a Service or a host.
#[derive(Clone, Debug)]
pub enum Destination {
    /// Webhooks in this process.
    InProcess(WebhookService),
    /// A server at `host:port`.
    Address(String),
}

/// Services and hosts with their destinations. For an unknown host of a URL, the host itself is the destination.
#[derive(Debug, Default)]
pub struct FixedDialers {
    services: BTreeMap<(String, String), Destination>,
    hosts: BTreeMap<String, Destination>,
    /// Keeps connections open.
    pool: Mutex<Pool>,
}

/// Maximum number of dialers in the pool. A rotated bundle leaves an unused dialer behind.
const MAX_POOLED: usize = 256;

/// Dialers, each with the number of its last use.
#[derive(Debug, Default)]
struct Pool {
    dialers: BTreeMap<PoolKey, (Https, u64)>,
    uses: u64,
}

impl Pool {
    fn get(&mut self, key: &PoolKey) -> Option<Https> {
        let (dialer, used) = self.dialers.get_mut(key)?;
        self.uses += 1;
        *used = self.uses;
        Some(dialer.clone())
    }

    /// Inserts a dialer; replaces the least recently used one if the pool is full.
    fn insert(&mut self, key: PoolKey, dialer: Https) {
        if self.dialers.len() >= MAX_POOLED {
            let oldest = self.dialers.values().map(|(_, used)| *used).min();
            self.dialers.retain(|_, (_, used)| Some(*used) != oldest);
        }
        self.uses += 1;
        self.dialers.insert(key, (dialer, self.uses));
    }
}

/// Key of a dialer in the pool.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct PoolKey {
    base: String,
    address: Option<String>,
    /// `None` if any certificate is accepted.
    bundle: Option<String>,
    certificate: Option<ClientCertificate>,
}

impl FixedDialers {
    /// An empty list.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a Service.
    #[must_use]
    pub fn service(mut self, namespace: &str, name: &str, destination: Destination) -> Self {
        self.services.insert((namespace.to_owned(), name.to_owned()), destination);
        self
    }

    /// Adds the `host:port` of URLs; a URL without a port has 443.
    #[must_use]
    pub fn host(mut self, host: &str, destination: Destination) -> Self {
        self.hosts.insert(host.to_owned(), destination);
        self
    }

    /// The destination, or `None` to connect to the host of the URL.
    fn destination(
        &self,
        to: &ClientConfig,
        at: &Address,
        connection: Connection<'_>,
    ) -> Result<Option<Destination>, DialError> {
        let Some(service) = &to.service else { return Ok(self.hosts.get(&at.authority()).cloned()) };
        let (namespace, name) = (&service.namespace, &service.name);
        let known = self.services.get(&(namespace.clone(), name.clone())).cloned();
        let endpoint = connection.endpoint.map(|endpoint| Destination::Address(endpoint.to_owned()));
        known.or(endpoint).map(Some).ok_or_else(|| DialError::Connect {
            url: format!("https://{}{}", at.host, at.path),
            source_text: format!("no address is known for service {namespace}/{name}"),
        })
    }

    fn pooled_dialer(
        &self,
        base: String,
        address: Option<String>,
        bundle: Option<&str>,
        connection: Connection<'_>,
    ) -> Result<Arc<dyn Dialer>, DialError> {
        let mut pool = self.pool.lock().unwrap_or_else(PoisonError::into_inner);
        let key = PoolKey {
            base: base.clone(),
            address: address.clone(),
            bundle: bundle.map(str::to_owned).filter(|_| !connection.insecure),
            certificate: connection.certificate.cloned(),
        };
        if let Some(known) = pool.get(&key) {
            return Ok(Arc::new(known));
        }
        let failed = |source_text: String| DialError::Tls { url: base.clone(), source_text };
        let trust = match bundle {
            _ if connection.insecure => Trust::Insecure,
            Some(bundle) => {
                let pem = base64::decode(bundle.trim());
                Trust::Bundle(pem.map_err(|error| failed(format!("caBundle: {error}")))?)
            }
            None => return Err(failed("the registration carries no caBundle".to_owned())),
        };
        let target = Target { url: base, address, server_name: None, trust };
        let dialer = Https::with_client_certificate(&target, connection.certificate)?;
        pool.insert(key, dialer.clone());
        Ok(Arc::new(dialer))
    }
}

impl Dialers for FixedDialers {
    fn dialer(&self, to: &ClientConfig, connection: Connection<'_>) -> Result<Arc<dyn Dialer>, DialError> {
        let address = to.address().map_err(|error| DialError::Connect {
            url: to.url.clone().unwrap_or_default(),
            source_text: error.to_string(),
        })?;
        let base = format!("https://{}", address.authority());
        let bundle = to.ca_bundle.as_deref();
        match self.destination(to, &address, connection)? {
            Some(Destination::InProcess(service)) => Ok(Arc::new(InProcess::new(service))),
            Some(Destination::Address(address)) => {
                self.pooled_dialer(base, Some(address), bundle, connection)
            }
            None => self.pooled_dialer(base, None, bundle, connection),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recently_used_dialers_stay_in_the_pool() {
        let dialers = FixedDialers::new();
        let connection = Connection { insecure: true, ..Connection::default() };
        let dial = |number: usize| {
            drop(dialers.pooled_dialer(format!("https://h{number}"), None, None, connection).unwrap());
        };
        for number in 0..MAX_POOLED {
            dial(number);
        }
        dial(0);
        dial(MAX_POOLED);
        let pool = dialers.pool.lock().unwrap();
        let is_pooled = |number: usize| {
            let base = format!("https://h{number}");
            pool.dialers.contains_key(&PoolKey { base, address: None, bundle: None, certificate: None })
        };
        let pooled = [0, 1, 2, MAX_POOLED].map(is_pooled);
        assert_eq!((pool.dialers.len(), pooled), (MAX_POOLED, [true, false, true, true]));
    }
}
