//! The registration that is recorded, and the one that leads its reviews here as well.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use conformance::recording::Tap;
use conformance::route;
use contract::index::{Index, Outline};
use serde_json::{Value, json};
use substrate::cluster::Cluster;
use substrate::proxied::Proxied;
use webhook::dial::{Dialer, Https, Target, Trust};
use webhook::registration::{Phase, Registration, WebhookConfiguration};

use crate::arguments::{RecordArguments, TrustArguments};
use crate::terminal::{Failure, Terminal};

/// What is waited for an answer where the registration says nothing, as kube-apiserver does.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);
/// How long the API server waits for us, in seconds: nobody should notice that we listen.
const PATIENCE: u32 = 2;
/// API servers call webhooks in the order of their configurations' names: ours is to see objects before they are changed.
const BEFORE_OTHERS: &str = "0-recorded-";
/// Where a webhook of which no contract speaks belongs.
const UNKNOWN: &str = "recorded";

/// A webhook that is recorded.
pub(super) struct Listened {
    /// Its name in the registration.
    pub(super) name: String,
    /// Where it is asked.
    pub(super) path: String,
    /// How long it may take.
    pub(super) timeout: Duration,
    /// Whether it understands v1.
    pub(super) speaks_v1: bool,
    pub(super) dialer: Arc<dyn Dialer>,
    /// As it is registered.
    written: Value,
}

/// What is recorded.
pub(super) struct Registered {
    pub(super) phase: Phase,
    name: String,
    webhooks: Vec<Listened>,
}

impl Registered {
    /// Reads the configuration of this name, and the webhooks of these names in it; all where none is named.
    pub(super) async fn find(cluster: &Cluster, arguments: &RecordArguments) -> Result<Self, Failure> {
        let (name, wanted) = (arguments.registration.as_str(), &arguments.webhook);
        let mut found = None;
        for phase in [Phase::Mutating, Phase::Validating] {
            let reply = cluster.get(&configuration(phase, name)).await;
            let reply = reply.map_err(|error| Failure::environment(error.to_string()))?;
            match reply.code {
                404 => {}
                _ if reply.is_success() => found = found.or(Some((phase, reply.body))),
                _ => {
                    let said = reply.message();
                    return Err(Failure::environment(format!(
                        "failed to read {} {name}: {said}",
                        phase.kind()
                    )));
                }
            }
        }
        let Some((phase, object)) = found else {
            return Err(Failure::usage(format!(
                "the cluster has no MutatingWebhookConfiguration and no ValidatingWebhookConfiguration {name:?}; \
                 `kubectl get mutatingwebhookconfigurations` lists them"
            )));
        };
        let read =
            WebhookConfiguration::from_object(&object).map_err(|error| Failure::usage(error.to_string()))?;
        let written = object["webhooks"].as_array().cloned().unwrap_or_default();
        let names: Vec<&str> = read.webhooks.iter().map(|webhook| webhook.name.as_str()).collect();
        if let Some(unknown) = wanted.iter().find(|wanted| !names.contains(&wanted.as_str())) {
            let known = names.join(", ");
            return Err(Failure::usage(format!("--webhook {unknown}: {name} has {known}")));
        }
        let pairs = read.webhooks.iter().zip(written);
        let pairs = pairs.filter(|(webhook, _)| wanted.is_empty() || wanted.contains(&webhook.name));
        let webhooks =
            pairs.map(|(webhook, written)| Listened::new(webhook, written, (cluster, &arguments.trust)));
        let webhooks = webhooks.collect::<Result<Vec<_>, _>>()?;
        if webhooks.is_empty() {
            return Err(Failure::usage(format!("{} {name} registers no webhook", phase.kind())));
        }
        Ok(Self { phase, name: name.to_owned(), webhooks })
    }

    /// The webhook whose reviews come on this path.
    pub(super) fn at(&self, path: &str) -> Option<&Listened> {
        self.webhooks.get(path.trim_start_matches('/').parse::<usize>().ok()?)
    }

    /// `2 webhooks`.
    pub(super) fn words(&self) -> String {
        match self.webhooks.len() {
            1 => "the webhook".to_owned(),
            count => format!("{count} webhooks"),
        }
    }

    /// Registers the tap beside it.
    pub(super) async fn lead_to(
        &self,
        cluster: &Cluster,
        tap: &Tap,
        terminal: &Terminal,
    ) -> Result<Led, Failure> {
        let webhooks = self.webhooks.iter().enumerate().map(|(number, webhook)| {
            let mut led = webhook.written.clone();
            led["clientConfig"] = json!(tap.client_config(&format!("/{number}")));
            led["failurePolicy"] = json!("Ignore");
            led["sideEffects"] = json!("None");
            led["timeoutSeconds"] = json!(PATIENCE);
            if self.phase == Phase::Mutating {
                led["reinvocationPolicy"] = json!("Never");
            }
            led
        });
        let mut object = configuration(self.phase, &format!("{BEFORE_OTHERS}{}", self.name));
        object["webhooks"] = webhooks.collect();
        let led = Led { object };
        // One that a killed recording left leads to nobody.
        led.take_back(cluster).await?;
        let reply = cluster.create(&led.object, "").await;
        let reply = reply.map_err(|error| Failure::environment(error.to_string()))?;
        if !reply.is_success() {
            let said = reply.message();
            return Err(Failure::environment(format!("the API server refused {}: {said}", led.name())));
        }
        if self.name.as_str() < BEFORE_OTHERS {
            terminal.note(&format!(
                "! {} comes before {}: objects are recorded as it left them",
                self.name,
                led.name()
            ));
        }
        Ok(led)
    }
}

/// The registration that leads here.
pub(super) struct Led {
    object: Value,
}

impl Led {
    fn name(&self) -> &str {
        self.object["metadata"]["name"].as_str().unwrap_or_default()
    }

    /// Takes it back; one that is not there is fine.
    pub(super) async fn take_back(&self, cluster: &Cluster) -> Result<(), Failure> {
        let kind = self.object["kind"].as_str().unwrap_or_default().to_lowercase();
        let remedy = format!("kubectl delete {kind} {}", self.name());
        let left = |said: String| {
            Failure::environment(format!(
                "failed to take {} back: {said}; it lets everything through, and goes with `{remedy}`",
                self.name()
            ))
        };
        let reply = cluster.delete(&self.object, "").await.map_err(|error| left(error.to_string()))?;
        if reply.is_success() || reply.code == 404 { Ok(()) } else { Err(left(reply.message())) }
    }
}

impl Listened {
    fn new(
        webhook: &Registration,
        written: Value,
        (cluster, trust): (&Cluster, &TrustArguments),
    ) -> Result<Self, Failure> {
        let to = &webhook.client_config;
        let dialer: Arc<dyn Dialer> = match (&to.service, &to.url) {
            (Some(service), _) => {
                let port = service.port.unwrap_or(443).to_string();
                Arc::new(Proxied::new(cluster.client(), &service.namespace, &service.name, ("https", &port)))
            }
            (None, Some(_)) => Arc::new(dialer(webhook, trust)?),
            (None, None) => {
                return Err(Failure::usage(format!("webhook {} leads nowhere", webhook.name)));
            }
        };
        Ok(Self {
            name: webhook.name.clone(),
            path: route::path(webhook),
            timeout: webhook
                .timeout_seconds
                .map_or(DEFAULT_TIMEOUT, |seconds| Duration::from_secs(seconds.into())),
            speaks_v1: webhook.admission_review_versions.iter().any(|version| version == "v1"),
            dialer,
            written,
        })
    }

    /// Name and component under which contracts speak of it; one that none speaks of is named by its path.
    pub(super) fn known_as(&self, known: &Index) -> (String, String) {
        let last = self.path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        let first = self.name.split('.').next().unwrap_or_default();
        let of = |name: &str| {
            let speaks = |contract: &&Outline| contract.subject.webhook.as_deref() == Some(name);
            let contract = known.contracts().iter().find(speaks)?;
            Some((name.to_owned(), contract.component.clone()))
        };
        of(last).or_else(|| of(first)).unwrap_or_else(|| (self.path.clone(), UNKNOWN.to_owned()))
    }
}

/// To a webhook that is registered at an address.
fn dialer(webhook: &Registration, said: &TrustArguments) -> Result<Https, Failure> {
    let bundle = webhook.client_config.ca_bundle.as_deref().filter(|bundle| !bundle.is_empty());
    let trust = match (said, bundle) {
        (TrustArguments { insecure: true, .. }, _) => Trust::Insecure,
        (TrustArguments { ca: Some(file), .. }, _) => Trust::File(file.clone()),
        (_, Some(bundle)) => Trust::Bundle(STANDARD.decode(bundle).map_err(|error| {
            Failure::usage(format!("the caBundle of webhook {} is no Base64: {error}", webhook.name))
        })?),
        (_, None) => {
            let remedy = "say --ca FILE (PEM), or --insecure to trust any certificate";
            return Err(Failure::usage(format!(
                "webhook {} is registered without a caBundle: {remedy}",
                webhook.name
            )));
        }
    };
    let address = webhook.client_config.address().map_err(|error| Failure::usage(error.to_string()))?;
    let base = format!("https://{}", address.authority());
    Https::new(&Target { url: base, address: None, server_name: None, trust })
        .map_err(|error| Failure::environment(error.to_string()))
}

fn configuration(phase: Phase, name: &str) -> Value {
    json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": phase.kind(), "metadata": {"name": name},
    })
}
