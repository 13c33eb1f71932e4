//! Starts a component in this process, on given clients, clock and entropy.

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use controller::Entropy;
use controller::leader::Elector;
use jiff::Timestamp;
use kube::Client;
use serde_json::Value;
use webhook::registration::WebhookConfiguration;
use webhook::service::WebhookService;

/// How to start a component.
#[derive(Clone)]
pub struct StartOptions {
    /// Its configuration; `apiVersion`, `kind` and fields with defaults may be missing.
    pub config: Value,
    /// Which of its registrations apply: `seed` or `shoot`.
    pub instance: String,
    /// The controller or task that its cases are about. A task that its leader does once runs only if cases are about it: it
    /// would write into those of all controllers.
    pub controller: Option<String>,
    /// The fixed time that its webhooks see; `None`: the system's time.
    pub now: Option<Timestamp>,
    /// The cluster that its webhooks read; `None` if no request needs one.
    pub client: Option<Client>,
    /// The clusters that its controllers work with; `None`: do not start its controllers.
    pub clusters: Option<Clusters>,
}

/// The clusters that controllers work with.
#[derive(Clone)]
pub struct Clusters {
    /// Where the controllers' own objects are.
    pub source: Client,
    /// Where they act; `None`: in the source cluster, as in a seed.
    pub target: Option<Client>,
    /// The time in both clusters at the start.
    pub now: Timestamp,
    /// Source of random numbers.
    pub entropy: Entropy,
    /// Takes part in a leader election, so that controllers run only while it leads; `None`: they run at once.
    pub elector: Option<Elector>,
}

/// A component that runs in this process. Dropping it stops the component.
pub struct Started {
    /// Its webhooks by path.
    pub service: WebhookService,
    /// Its webhook registrations.
    pub registrations: Vec<WebhookConfiguration>,
    /// Writes its metrics in Prometheus' text format.
    pub metrics: Box<dyn Fn() -> String + Send + Sync>,
    /// Why it has ended, where a program would have ended with an error.
    pub failure: Box<dyn Fn() -> Option<String> + Send + Sync>,
    /// Keeps the component running until it is dropped.
    pub guard: Box<dyn Send + Sync>,
}

/// A component that is starting.
pub type Starting = Pin<Box<dyn Future<Output = Result<Started, String>> + Send>>;

impl Started {
    /// A component that consists of webhooks only and has no own metrics.
    #[must_use]
    pub fn webhooks(service: WebhookService, registrations: Vec<WebhookConfiguration>) -> Self {
        let failure = Box::new(|| None);
        Self { service, registrations, metrics: Box::new(String::new), failure, guard: Box::new(()) }
    }
}

impl fmt::Debug for Started {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Started").field("registrations", &self.registrations).finish_non_exhaustive()
    }
}
