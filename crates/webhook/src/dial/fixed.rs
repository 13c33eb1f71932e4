//! Resolves registered webhooks by a list that is known beforehand.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::Uri;

use super::{DialError, Dialer, Dialers, Https, InProcess, Target, Trust};
use crate::registration::{ClientConfig, ServiceReference};
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
    /// By URL and bundle, so that connections are kept.
    pooled: Mutex<BTreeMap<(String, Option<String>), Https>>,
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

    fn by_service(&self, to: &ServiceReference) -> Result<(String, String, Option<&Destination>), DialError> {
        let host = format!("{}.{}.svc", to.name, to.namespace);
        let base = format!("https://{host}:{}", to.port.unwrap_or(443));
        let path = to.path.clone().unwrap_or_else(|| "/".to_owned());
        let known = self.services.get(&(to.namespace.clone(), to.name.clone()));
        if known.is_none() {
            let source_text = format!("no address is known for service {}/{}", to.namespace, to.name);
            return Err(DialError::Connect { url: format!("{base}{path}"), source_text });
        }
        Ok((base, path, known))
    }

    fn by_url(&self, url: &str) -> Result<(String, String, Option<&Destination>), DialError> {
        let wrong = |source_text: String| DialError::Connect { url: url.to_owned(), source_text };
        let uri: Uri = url.parse().map_err(|error: http::uri::InvalidUri| wrong(error.to_string()))?;
        let host = uri.host().ok_or_else(|| wrong("the address has no host".to_owned()))?;
        let authority = format!("{host}:{}", uri.port_u16().unwrap_or(443));
        let path = uri.path_and_query().map_or("/", |path| path.as_str()).to_owned();
        Ok((format!("https://{authority}"), path, self.hosts.get(&authority)))
    }

    fn pooled(
        &self,
        base: String,
        address: Option<String>,
        bundle: Option<String>,
    ) -> Result<Arc<dyn Dialer>, DialError> {
        let mut pooled = self.pooled.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (base.clone(), bundle.clone());
        if let Some(known) = pooled.get(&key) {
            return Ok(Arc::new(known.clone()));
        }
        let wrong = |source_text: String| DialError::Tls { url: base.clone(), source_text };
        let bundle = bundle.ok_or_else(|| wrong("the registration carries no caBundle".to_owned()))?;
        let pem = STANDARD.decode(bundle.trim()).map_err(|error| wrong(format!("caBundle: {error}")))?;
        let target = Target { url: base, address, server_name: None, trust: Trust::Bundle(pem) };
        let dialer = Https::new(&target)?;
        pooled.insert(key, dialer.clone());
        Ok(Arc::new(dialer))
    }
}

impl Dialers for FixedDialers {
    fn dialer(&self, to: &ClientConfig) -> Result<(Arc<dyn Dialer>, String), DialError> {
        let (base, path, destination) = match (&to.url, &to.service) {
            (Some(url), None) => self.by_url(url)?,
            (None, Some(service)) => self.by_service(service)?,
            _ => {
                let source_text = "exactly one of url or service is required".to_owned();
                return Err(DialError::Connect { url: String::new(), source_text });
            }
        };
        let dialer: Arc<dyn Dialer> = match destination {
            Some(Destination::InProcess(service)) => Arc::new(InProcess::new(service.clone())),
            Some(Destination::Address(address)) => {
                self.pooled(base, Some(address.clone()), to.ca_bundle.clone())?
            }
            None => self.pooled(base, None, to.ca_bundle.clone())?,
        };
        Ok((dialer, path))
    }
}
