//! Resolves registered webhooks by a list that is known beforehand.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::{ClientCertificate, Connection, DialError, Dialer, Dialers, Https, InProcess, Target, Trust};
use crate::registration::{Address, ClientConfig};
use crate::service::WebhookService;

/// What stands behind a Service or a host.
#[derive(Clone, Debug)]
pub enum Destination {
    /// Webhooks of this process.
    InProcess(WebhookService),
    /// A server at `host:port`.
    Address(String),
}

/// Services and hosts that are known; an unknown host of a URL is connected to as it is.
#[derive(Debug, Default)]
pub struct FixedDialers {
    services: BTreeMap<(String, String), Destination>,
    hosts: BTreeMap<String, Destination>,
    /// So that connections are kept.
    pool: Mutex<Pool>,
}

/// So many dialers with their connections are kept; a bundle that is rotated leaves one that nobody uses any more.
const MOST_KEPT: usize = 256;

/// Dialers, each with the number of its last use.
#[derive(Debug, Default)]
struct Pool {
    dialers: BTreeMap<Pooled, (Https, u64)>,
    uses: u64,
}

impl Pool {
    fn get(&mut self, key: &Pooled) -> Option<Https> {
        let (dialer, used) = self.dialers.get_mut(key)?;
        self.uses += 1;
        *used = self.uses;
        Some(dialer.clone())
    }

    /// Keeps a dialer, in the place of the one that was not used for longest where there are too many.
    fn keep(&mut self, key: Pooled, dialer: Https) {
        if self.dialers.len() >= MOST_KEPT {
            let oldest = self.dialers.values().map(|(_, used)| *used).min();
            self.dialers.retain(|_, (_, used)| Some(*used) != oldest);
        }
        self.uses += 1;
        self.dialers.insert(key, (dialer, self.uses));
    }
}

/// What connections are kept by.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Pooled {
    base: String,
    address: Option<String>,
    /// Absent where any certificate will do.
    bundle: Option<String>,
    certificate: Option<ClientCertificate>,
}

impl FixedDialers {
    /// Knows nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Knows what stands behind a Service.
    #[must_use]
    pub fn service(mut self, namespace: &str, name: &str, destination: Destination) -> Self {
        self.services.insert((namespace.to_owned(), name.to_owned()), destination);
        self
    }

    /// Knows what stands behind the `host:port` of URLs; a URL without a port has 443.
    #[must_use]
    pub fn host(mut self, host: &str, destination: Destination) -> Self {
        self.hosts.insert(host.to_owned(), destination);
        self
    }

    /// `host:port` to connect to where it is not the address itself, or webhooks of this process.
    fn destination(
        &self,
        to: &ClientConfig,
        at: &Address,
        over: Connection<'_>,
    ) -> Result<Option<Destination>, DialError> {
        let Some(service) = &to.service else { return Ok(self.hosts.get(&at.authority()).cloned()) };
        let (namespace, name) = (&service.namespace, &service.name);
        let known = self.services.get(&(namespace.clone(), name.clone())).cloned();
        let found = over.endpoint.map(|endpoint| Destination::Address(endpoint.to_owned()));
        known.or(found).map(Some).ok_or_else(|| DialError::Connect {
            url: format!("https://{}{}", at.host, at.path),
            source_text: format!("no address is known for service {namespace}/{name}"),
        })
    }

    fn pooled(
        &self,
        base: String,
        address: Option<String>,
        bundle: Option<&str>,
        over: Connection<'_>,
    ) -> Result<Arc<dyn Dialer>, DialError> {
        let mut pool = self.pool.lock().unwrap_or_else(PoisonError::into_inner);
        let key = Pooled {
            base: base.clone(),
            address: address.clone(),
            bundle: bundle.map(str::to_owned).filter(|_| !over.insecure),
            certificate: over.certificate.cloned(),
        };
        if let Some(known) = pool.get(&key) {
            return Ok(Arc::new(known));
        }
        let wrong = |source_text: String| DialError::Tls { url: base.clone(), source_text };
        let trust = match bundle {
            _ if over.insecure => Trust::Insecure,
            Some(bundle) => {
                let pem = STANDARD.decode(bundle.trim());
                Trust::Bundle(pem.map_err(|error| wrong(format!("caBundle: {error}")))?)
            }
            None => return Err(wrong("the registration carries no caBundle".to_owned())),
        };
        let target = Target { url: base, address, server_name: None, trust };
        let dialer = Https::showing(&target, over.certificate)?;
        pool.keep(key, dialer.clone());
        Ok(Arc::new(dialer))
    }
}

impl Dialers for FixedDialers {
    fn dialer(&self, to: &ClientConfig, over: Connection<'_>) -> Result<Arc<dyn Dialer>, DialError> {
        let address = to.address().map_err(|error| DialError::Connect {
            url: to.url.clone().unwrap_or_default(),
            source_text: error.to_string(),
        })?;
        let base = format!("https://{}", address.authority());
        let bundle = to.ca_bundle.as_deref();
        match self.destination(to, &address, over)? {
            Some(Destination::InProcess(service)) => Ok(Arc::new(InProcess::new(service))),
            Some(Destination::Address(address)) => self.pooled(base, Some(address), bundle, over),
            None => self.pooled(base, None, bundle, over),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_dialers_that_are_used_are_kept() {
        let dialers = FixedDialers::new();
        let over = Connection { insecure: true, ..Connection::default() };
        let dial =
            |number: usize| drop(dialers.pooled(format!("https://h{number}"), None, None, over).unwrap());
        for number in 0..MOST_KEPT {
            dial(number);
        }
        dial(0);
        dial(MOST_KEPT);
        let pool = dialers.pool.lock().unwrap();
        let is_kept = |number: usize| {
            let base = format!("https://h{number}");
            pool.dialers.contains_key(&Pooled { base, address: None, bundle: None, certificate: None })
        };
        let kept = [0, 1, 2, MOST_KEPT].map(is_kept);
        assert_eq!((pool.dialers.len(), kept), (MOST_KEPT, [true, false, true, true]));
    }
}
