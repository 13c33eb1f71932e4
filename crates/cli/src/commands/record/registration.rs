//! The webhook configuration that is recorded, and the one that sends its reviews to this process as well.

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

/// The timeout of a webhook whose registration has none, as in kube-apiserver.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);
/// How long the API server waits for this process, in seconds: recording should not delay requests.
const PATIENCE: u32 = 2;
/// Prefix of the added configuration's name. API servers call webhooks in the order of these names, and this process should
/// receive objects before other webhooks change them.
const BEFORE_OTHERS: &str = "0-recorded-";
/// The component of a webhook that no contract is about.
const UNKNOWN: &str = "recorded";

/// A webhook whose reviews are recorded.
pub(super) struct RecordedWebhook {
    /// Its name in the configuration.
    pub(super) name: String,
    /// Its URL path.
    pub(super) path: String,
    /// How long it may take to answer.
    pub(super) timeout: Duration,
    /// Whether it accepts reviews of v1.
    pub(super) speaks_v1: bool,
    pub(super) dialer: Arc<dyn Dialer>,
    /// Its entry in the configuration.
    entry: Value,
}

/// The webhook configuration whose reviews are recorded.
pub(super) struct RecordedConfiguration {
    pub(super) phase: Phase,
    name: String,
    webhooks: Vec<RecordedWebhook>,
}

impl RecordedConfiguration {
    /// Reads the configuration of `--registration` with the webhooks of `--webhook`, or all.
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
                    let message = reply.message();
                    return Err(Failure::environment(format!(
                        "failed to read {} {name}: {message}",
                        phase.kind()
                    )));
                }
            }
        }
        let Some((phase, object)) = found else {
            return Err(Failure::usage(format!(
                "the cluster has no MutatingWebhookConfiguration and no ValidatingWebhookConfiguration {name:?}; \
                 `kubectl get mutatingwebhookconfigurations,validatingwebhookconfigurations` lists them"
            )));
        };
        let read =
            WebhookConfiguration::from_object(&object).map_err(|error| Failure::usage(error.to_string()))?;
        let entries = object["webhooks"].as_array().cloned().unwrap_or_default();
        let names: Vec<&str> = read.webhooks.iter().map(|webhook| webhook.name.as_str()).collect();
        if let Some(unknown) = wanted.iter().find(|wanted| !names.contains(&wanted.as_str())) {
            let known = names.join(", ");
            return Err(Failure::usage(format!(
                "--webhook {unknown}: {name} has no such webhook; it has {known}"
            )));
        }
        let pairs = read.webhooks.iter().zip(entries);
        let pairs = pairs.filter(|(webhook, _)| wanted.is_empty() || wanted.contains(&webhook.name));
        let webhooks =
            pairs.map(|(webhook, entry)| RecordedWebhook::new(webhook, entry, (cluster, &arguments.trust)));
        let webhooks = webhooks.collect::<Result<Vec<_>, _>>()?;
        if webhooks.is_empty() {
            return Err(Failure::usage(format!("{} {name} registers no webhook", phase.kind())));
        }
        Ok(Self { phase, name: name.to_owned(), webhooks })
    }

    /// The webhook whose reviews arrive at this path of the tap.
    pub(super) fn webhook_at(&self, path: &str) -> Option<&RecordedWebhook> {
        self.webhooks.get(path.trim_start_matches('/').parse::<usize>().ok()?)
    }

    /// `the webhook` or `2 webhooks`.
    pub(super) fn describe_webhooks(&self) -> String {
        match self.webhooks.len() {
            1 => "the webhook".to_owned(),
            count => format!("{count} webhooks"),
        }
    }

    /// Registers the tap for the same requests.
    pub(super) async fn register_tap(
        &self,
        cluster: &Cluster,
        tap: &Tap,
        terminal: &Terminal,
    ) -> Result<TapConfiguration, Failure> {
        let webhooks = self.webhooks.iter().enumerate().map(|(number, webhook)| {
            let mut entry = webhook.entry.clone();
            entry["clientConfig"] = json!(tap.client_config(&format!("/{number}")));
            entry["failurePolicy"] = json!("Ignore");
            entry["sideEffects"] = json!("None");
            entry["timeoutSeconds"] = json!(PATIENCE);
            if self.phase == Phase::Mutating {
                entry["reinvocationPolicy"] = json!("Never");
            }
            entry
        });
        let mut object = configuration(self.phase, &format!("{BEFORE_OTHERS}{}", self.name));
        object["webhooks"] = webhooks.collect();
        let tapped = TapConfiguration { object };
        // Delete one that a killed recording left.
        tapped.delete(cluster).await?;
        let reply = cluster.create(&tapped.object, "").await;
        let reply = reply.map_err(|error| Failure::environment(error.to_string()))?;
        if !reply.is_success() {
            let message = reply.message();
            return Err(Failure::environment(format!("the API server refused {}: {message}", tapped.name())));
        }
        if self.name.as_str() < BEFORE_OTHERS {
            terminal.note(&format!(
                "! the API server calls {} before {}, so objects are recorded as changed by it",
                self.name,
                tapped.name()
            ));
        }
        Ok(tapped)
    }
}

/// The webhook configuration that sends reviews to this process.
pub(super) struct TapConfiguration {
    object: Value,
}

impl TapConfiguration {
    fn name(&self) -> &str {
        self.object["metadata"]["name"].as_str().unwrap_or_default()
    }

    /// Deletes the configuration, if it exists.
    pub(super) async fn delete(&self, cluster: &Cluster) -> Result<(), Failure> {
        let kind = self.object["kind"].as_str().unwrap_or_default().to_lowercase();
        let remedy = format!("kubectl delete {kind} {}", self.name());
        let failed = |message: String| {
            Failure::environment(format!(
                "failed to delete {}: {message}; it allows every request; to delete it: {remedy}",
                self.name()
            ))
        };
        let reply = cluster.delete(&self.object, "").await.map_err(|error| failed(error.to_string()))?;
        if reply.is_success() || reply.code == 404 { Ok(()) } else { Err(failed(reply.message())) }
    }
}

impl RecordedWebhook {
    fn new(
        webhook: &Registration,
        entry: Value,
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
                return Err(Failure::usage(format!(
                    "webhook {} has neither a Service nor a URL",
                    webhook.name
                )));
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
            entry,
        })
    }

    /// The name and the component of the webhook in contracts; a webhook without a contract is named by its path.
    pub(super) fn contract_name(&self, contracts: &Index) -> (String, String) {
        let last = self.path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        let first = self.name.split('.').next().unwrap_or_default();
        let of = |name: &str| {
            let is_about = |contract: &&Outline| contract.subject.webhook.as_deref() == Some(name);
            let contract = contracts.contracts().iter().find(is_about)?;
            Some((name.to_owned(), contract.component.clone()))
        };
        of(last).or_else(|| of(first)).unwrap_or_else(|| (self.path.clone(), UNKNOWN.to_owned()))
    }
}

/// A dialer for a webhook with a URL.
fn dialer(webhook: &Registration, arguments: &TrustArguments) -> Result<Https, Failure> {
    let bundle = webhook.client_config.ca_bundle.as_deref().filter(|bundle| !bundle.is_empty());
    let trust = match (arguments, bundle) {
        (TrustArguments { insecure: true, .. }, _) => Trust::Insecure,
        (TrustArguments { ca: Some(file), .. }, _) => Trust::File(file.clone()),
        (_, Some(bundle)) => Trust::Bundle(STANDARD.decode(bundle).map_err(|error| {
            Failure::usage(format!("the caBundle of webhook {} is not Base64: {error}", webhook.name))
        })?),
        (_, None) => {
            let remedy = "add --ca FILE (PEM), or --insecure to accept any certificate";
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
