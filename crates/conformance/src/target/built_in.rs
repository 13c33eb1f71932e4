//! A component of this project, in process: no socket, no TLS.

use std::collections::BTreeSet;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use async_trait::async_trait;
use contract::model::Form;
use jiff::Timestamp;
use serde_json::Value;
use webhook::dial::{Dialer, InProcess};
use webhook::registration::WebhookConfiguration;
use webhook::service::WebhookService;

use super::{Clusters, Configured, Facts, Identity, Running, Setup, Target, TargetError, TargetKind, Trial};

/// A component that is ready to be asked.
pub struct Component {
    /// Its webhooks behind their paths.
    pub service: WebhookService,
    /// How they are registered.
    pub registrations: Vec<WebhookConfiguration>,
    /// Writes its metrics in Prometheus' text format.
    pub metrics: Metrics,
    /// Kept as long as it is asked: dropping it ends what the component started.
    pub guard: Box<dyn Send + Sync>,
}

/// Gives metrics in Prometheus' text format.
pub type Metrics = Box<dyn Fn() -> String + Send + Sync>;

/// What a component is made from.
pub struct Ingredients {
    /// Effective configuration.
    pub config: Value,
    /// `seed` or `shoot`.
    pub instance: String,
    /// The time that it shows, standing still; `None`: the real one.
    pub now: Option<Timestamp>,
    /// The cluster it reads; `None` where no case has facts.
    pub facts: Option<Facts>,
    /// The clusters that its controllers work with; `None`: they are not wanted.
    pub clusters: Option<Clusters>,
}

/// What a component works with: the file with all defaults, and warnings of it; an error is a refusal, in words.
pub type Loaded = Result<(Value, Vec<String>), String>;

type Made = Pin<Box<dyn Future<Output = Result<Component, String>> + Send>>;

/// A component, made anew for each configuration.
pub struct BuiltIn {
    name: String,
    version: String,
    features: BTreeSet<String>,
    make: Box<dyn Fn(Ingredients) -> Made + Send + Sync>,
    load: Option<fn(&Value) -> Loaded>,
    component: Option<&'static str>,
}

impl BuiltIn {
    /// A component of this name and version that `make` makes; an error is a refused configuration, in words.
    pub fn new<F, R>(name: &str, version: &str, features: BTreeSet<String>, make: F) -> Self
    where
        F: Fn(Ingredients) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Component, String>> + Send + 'static,
    {
        let make = Box::new(move |ingredients: Ingredients| Box::pin(make(ingredients)) as Made);
        Self {
            name: name.to_owned(),
            version: version.to_owned(),
            features,
            make,
            load: None,
            component: None,
        }
    }

    /// Asked about the contracts of this component alone.
    #[must_use]
    pub fn about(mut self, component: &'static str) -> Self {
        self.component = Some(component);
        self
    }

    /// With the way in which the component loads a configuration file; what the file says of version and kind may be
    /// missing.
    #[must_use]
    pub fn loading(mut self, load: fn(&Value) -> Loaded) -> Self {
        self.load = Some(load);
        self
    }
}

#[async_trait]
impl Target for BuiltIn {
    fn identity(&self) -> Identity {
        Identity {
            name: self.name.clone(),
            version: Some(self.version.clone()),
            kind: TargetKind::BuiltIn,
            endpoint: "in process".to_owned(),
        }
    }

    fn features(&self) -> BTreeSet<String> {
        self.features.clone()
    }

    fn is_ours(&self) -> bool {
        true
    }

    fn is_outside(&self) -> bool {
        false
    }

    fn is_asked_of(&self, component: &str, form: Form) -> bool {
        let is_own = self.component.is_none_or(|own| own == component);
        is_own && form != Form::Versions
    }

    async fn configure(&self, trial: Trial<'_>) -> Result<Option<Configured>, TargetError> {
        Ok(self.load.map(|load| match load(trial.config) {
            Ok((effective, warnings)) => {
                Configured::Started { warnings: Some(warnings), effective: Some(effective) }
            }
            Err(message) => Configured::Refused { message },
        }))
    }

    async fn start(&self, setup: Setup<'_>) -> Result<Box<dyn Running>, TargetError> {
        let ingredients = Ingredients {
            config: setup.config.clone(),
            instance: setup.instance.to_owned(),
            now: setup.now,
            facts: setup.facts.clone(),
            clusters: setup.clusters.clone(),
        };
        let component = (self.make)(ingredients).await;
        let component =
            component.map_err(|reason| TargetError::Configuration { name: self.name.clone(), reason })?;
        Ok(Box::new(RunningBuiltIn(component)))
    }
}

struct RunningBuiltIn(Component);

#[async_trait]
impl Running for RunningBuiltIn {
    fn dialer(&self) -> Arc<dyn Dialer> {
        Arc::new(InProcess::new(self.0.service.clone()))
    }

    fn registrations(&self) -> Option<&[WebhookConfiguration]> {
        Some(&self.0.registrations)
    }

    fn paths(&self, webhook: &str) -> Vec<String> {
        let routes = self.0.service.routes().filter(|route| route.name == webhook);
        routes.map(|route| route.path.clone()).collect()
    }

    async fn metrics(&self) -> Option<String> {
        Some((self.0.metrics)())
    }

    async fn stop(self: Box<Self>) {
        drop(self.0.guard);
    }
}
