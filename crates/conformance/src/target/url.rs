//! A running webhook at a URL.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::Value;
use webhook::dial::{DialError, Dialer, Https, Target as Address, Trust};
use webhook::registration::WebhookConfiguration;

use super::{Configurable, Identity, Needs, Running, Setup, Target, TargetError, TargetKind};
use crate::exchange;

/// How long the first connection may take.
const FIRST_CONTACT: Duration = Duration::from_secs(10);

/// The description of a target outside this process.
#[derive(Clone, Debug, Default)]
pub struct TargetDescription {
    /// Name of the target.
    pub name: String,
    /// The author's own file, on which findings of code scanning lie.
    pub file: Option<String>,
    /// Its version.
    pub version: Option<String>,
    /// Webhook name → paths that serve it.
    pub paths: BTreeMap<String, Vec<String>>,
    /// Its webhook configurations, by instance (`seed`, `shoot`); an entry under the empty name is for all.
    pub registrations: BTreeMap<String, Vec<WebhookConfiguration>>,
    /// Features that clauses may need.
    pub features: BTreeSet<String>,
    /// Its provider extension; absent: the provider of the cases.
    pub provider: Option<String>,
    /// Objects of control planes' namespaces, in the place of those of its provider's profile or beside them.
    pub cluster_objects: Vec<Value>,
    /// Its release of Gardener; absent: the default.
    pub gardener: Option<String>,
    /// Values that contracts name with `$name`.
    pub parameters: BTreeMap<String, Value>,
    /// Path prefixes that it changes on purpose.
    pub extras: Vec<String>,
    /// Resources that it reads in all namespaces.
    pub reads_everywhere: BTreeSet<String>,
    /// Objects that must be in its cluster before it starts.
    pub needs: Needs,
}

/// A running webhook at a URL.
#[derive(Clone, Debug)]
pub struct UrlTarget {
    /// Its description.
    pub known: TargetDescription,
    /// `https://host:port`, without a path.
    pub url: String,
    /// Which certificates are trusted.
    pub trust: Trust,
    /// Its configuration, if known.
    pub config: Option<Value>,
}

#[async_trait]
impl Target for UrlTarget {
    fn identity(&self) -> Identity {
        self.known.identity(TargetKind::Url, &self.url)
    }

    fn features(&self) -> BTreeSet<String> {
        self.known.features.clone()
    }

    fn file(&self) -> Option<&str> {
        self.known.file.as_deref()
    }

    fn provider(&self) -> Option<&str> {
        self.known.provider.as_deref()
    }

    fn cluster_objects(&self) -> &[Value] {
        &self.known.cluster_objects
    }

    fn gardener(&self) -> Option<&str> {
        self.known.gardener.as_deref()
    }

    fn parameters(&self) -> BTreeMap<String, Value> {
        self.known.parameters.clone()
    }

    fn extras(&self) -> Vec<String> {
        self.known.extras.clone()
    }

    fn reads_everywhere(&self) -> BTreeSet<String> {
        self.known.reads_everywhere.clone()
    }

    fn configurable(&self, _component: &str) -> Configurable {
        self.config.clone().map_or(Configurable::Unknown, Configurable::Fixed)
    }

    async fn start(&self, setup: Setup<'_>) -> Result<Box<dyn Running>, TargetError> {
        let dialer = Https::new(&self.address()).map_err(|source| TargetError::Unreachable { source })?;
        first_contact(&dialer, (&self.url, &self.known)).await?;
        let registrations = self.known.registrations_of(setup.instance);
        Ok(Box::new(RunningUrl { dialer: Arc::new(dialer), known: self.known.clone(), registrations }))
    }
}

/// Checks that the target at `url` responds at all, by a review as an API server sends it; ignores the response. A connection
/// that ends without a response is one, too: it does not concern the reviews of the cases.
pub(super) async fn first_contact(
    dialer: &dyn Dialer,
    (url, known): (&str, &TargetDescription),
) -> Result<(), TargetError> {
    let path = known.paths.values().flatten().next().map_or("/", String::as_str);
    let url = url.trim_end_matches('/').to_owned();
    // The user knows the address, but not the path, which no case may need.
    let source = match dialer.post(path, exchange::probe(), FIRST_CONTACT).await {
        Ok(_) | Err(DialError::Exchange { .. }) => return Ok(()),
        Err(DialError::Connect { source_text, .. }) => DialError::Connect { url, source_text },
        Err(DialError::Tls { source_text, .. }) => DialError::Tls { url, source_text },
        Err(DialError::Timeout { timeout, .. }) => DialError::Timeout { url, timeout },
        Err(error @ DialError::NotPut { .. }) => error,
    };
    Err(TargetError::Unreachable { source })
}

impl UrlTarget {
    /// Checks that the address and the trusted certificates can be used, and sends nothing.
    ///
    /// # Errors
    /// If the address is invalid or the authorities cannot be read.
    pub fn check(&self) -> Result<(), DialError> {
        Https::new(&self.address()).map(drop)
    }

    fn address(&self) -> Address {
        Address {
            url: self.url.trim_end_matches('/').to_owned(),
            address: None,
            server_name: None,
            trust: self.trust.clone(),
        }
    }
}

impl TargetDescription {
    pub(crate) fn identity(&self, kind: TargetKind, endpoint: &str) -> Identity {
        Identity {
            name: self.name.clone(),
            version: self.version.clone(),
            kind,
            endpoint: endpoint.to_owned(),
        }
    }

    pub(super) fn registrations_of(&self, instance: &str) -> Option<Vec<WebhookConfiguration>> {
        self.registrations.get(instance).or_else(|| self.registrations.get("")).cloned()
    }

    pub(super) fn paths_of(&self, webhook: &str) -> Vec<String> {
        let known = self.paths.get(webhook).cloned();
        // A webhook without a name in contracts is named by its path.
        known.unwrap_or_else(|| webhook.starts_with('/').then(|| webhook.to_owned()).into_iter().collect())
    }
}

struct RunningUrl {
    dialer: Arc<Https>,
    known: TargetDescription,
    registrations: Option<Vec<WebhookConfiguration>>,
}

#[async_trait]
impl Running for RunningUrl {
    fn dialer(&self) -> Arc<dyn Dialer> {
        Arc::<Https>::clone(&self.dialer)
    }

    fn registrations(&self) -> Option<&[WebhookConfiguration]> {
        self.registrations.as_deref()
    }

    fn paths(&self, webhook: &str) -> Vec<String> {
        self.known.paths_of(webhook)
    }

    async fn stop(self: Box<Self>) {}
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use bytes::Bytes;
    use serde_json::Value;
    use webhook::dial::HttpAnswer;

    use super::*;

    /// Fails every request in the same way, and keeps its body.
    struct Failing(DialError, Mutex<Vec<Bytes>>);

    #[async_trait]
    impl Dialer for Failing {
        async fn post(&self, _: &str, body: Bytes, _: Duration) -> Result<HttpAnswer, DialError> {
            self.1.lock().unwrap().push(body);
            Err(self.0.clone())
        }
    }

    #[tokio::test]
    async fn case_60_the_first_request_is_one_that_an_api_server_sends_and_decides_nothing() {
        let text = str::to_owned;
        let url = || text("https://a:1/webhooks/mutate");
        let table = [
            (DialError::Exchange { url: url(), source_text: text("closed") }, None),
            (
                DialError::Connect { url: url(), source_text: text("refused") },
                Some("could not reach the target: failed to connect to https://a:1: refused"),
            ),
            (
                DialError::Timeout { url: url(), timeout: FIRST_CONTACT },
                Some("could not reach the target: no answer from https://a:1 within 10s"),
            ),
        ];
        for (error, want) in table {
            let dialer = Failing(error, Mutex::default());
            let contact = first_contact(&dialer, ("https://a:1/", &TargetDescription::default())).await;
            assert_eq!(contact.err().map(|error| error.to_string()).as_deref(), want);
            let sent = dialer.1.lock().unwrap().remove(0);
            let review: Value = serde_json::from_slice(&sent).unwrap();
            let found = [&review["apiVersion"], &review["request"]["uid"], &review["request"]["operation"]];
            assert_eq!(found, ["admission.k8s.io/v1", "conformance-probe", "CREATE"]);
            assert_eq!(
                (&review["request"]["dryRun"], &review["request"]["object"]["kind"]),
                (&true.into(), &"ConfigMap".into())
            );
        }
    }
}
