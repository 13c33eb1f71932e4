//! How a component is started in this process: on given clients, clock and entropy.

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use controller::Entropy;
use jiff::Timestamp;
use kube::Client;
use serde_json::Value;
use webhook::registration::WebhookConfiguration;
use webhook::service::WebhookService;

/// What a component is started with.
#[derive(Clone)]
pub struct StartOptions {
    /// Its configuration; version, kind and what has a default may be missing.
    pub config: Value,
    /// Which of its registrations apply: `seed` or `shoot`.
    pub instance: String,
    /// The time that its webhooks see, standing still; `None`: the real one.
    pub now: Option<Timestamp>,
    /// The cluster that its webhooks read; `None`: no request needs one.
    pub client: Option<Client>,
    /// The clusters that its controllers work with; `None`: its controllers are not started.
    pub clusters: Option<Clusters>,
}

/// The clusters that controllers work with.
#[derive(Clone)]
pub struct Clusters {
    /// Where the controllers' own objects are.
    pub source: Client,
    /// Where they act; `None`: in the source itself, as in a seed.
    pub target: Option<Client>,
    /// The time in both at the start.
    pub now: Timestamp,
    /// Random numbers.
    pub entropy: Entropy,
}

/// A component that runs in this process. Dropping it ends the component.
pub struct Started {
    /// Its webhooks behind their paths.
    pub service: WebhookService,
    /// How they are registered.
    pub registrations: Vec<WebhookConfiguration>,
    /// Writes its metrics in Prometheus' text format.
    pub metrics: Box<dyn Fn() -> String + Send + Sync>,
    /// What runs until it is dropped.
    pub guard: Box<dyn Send + Sync>,
}

/// A component that is being started.
pub type Starting = Pin<Box<dyn Future<Output = Result<Started, String>> + Send>>;

impl Started {
    /// A component of webhooks alone, without metrics of its own.
    #[must_use]
    pub fn webhooks(service: WebhookService, registrations: Vec<WebhookConfiguration>) -> Self {
        Self { service, registrations, metrics: Box::new(String::new), guard: Box::new(()) }
    }
}

impl fmt::Debug for Started {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Started").field("registrations", &self.registrations).finish_non_exhaustive()
    }
}
