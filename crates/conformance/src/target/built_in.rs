//! A component of this project, in process: no socket, no TLS.

use std::collections::BTreeSet;
use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use component::{Component, Decided, Loaded, Question, StartOptions, Started, Starting};
use contract::case::Given;
use contract::document::target::TargetSpec;
use contract::gardener::decision::Decision;
use contract::model::Form;
use contract::process::ProcessAction;
use controller::Entropy;
use controller::clock::Clock;
use controller::leader::{ElectionError, Elector};
use serde_json::Value;
use webhook::dial::{Dialer, InProcess};
use webhook::registration::WebhookConfiguration;

use super::command::CommandTarget;
use super::url::TargetDescription;
use super::{
    Chance, Clusters, Configured, Election, Identity, Observed, Running, Setup, Target, TargetError,
    TargetKind, Trial,
};
use crate::gardener::{Versions, question};

/// A component, started again for each configuration.
pub struct BuiltIn {
    name: String,
    version: String,
    features: BTreeSet<String>,
    start: Box<dyn Fn(StartOptions) -> Starting + Send + Sync>,
    load: Option<fn(&Value) -> Loaded>,
    decide: Option<fn(&Question<'_>) -> Decided>,
    admits_shoots: bool,
    maintains_shoots: bool,
    elects_leader: bool,
    component: Option<&'static str>,
    /// Its program, for cases about processes.
    program: Option<Box<CommandTarget>>,
}

impl BuiltIn {
    /// A component, tested with the contracts of its name only.
    #[must_use]
    pub fn of(component: &'static Component) -> Self {
        Self {
            name: component.program.to_owned(),
            version: component.version.to_owned(),
            features: component.features.iter().map(|feature| (*feature).to_owned()).collect(),
            start: Box::new(component.start),
            load: component.load,
            decide: component.decide,
            admits_shoots: component.admits_shoots,
            maintains_shoots: component.maintains_shoots,
            elects_leader: component.elects_leader,
            component: Some(component.name),
            program: None,
        }
    }

    /// The same, with a program for cases about its process. `command` starts it, such as `["target/debug/gardener-x"]`; what
    /// follows on the command line is [`Component::process`].
    ///
    /// # Panics
    /// When the component's description of its process is not that of a target.
    #[must_use]
    pub fn with_program(mut self, component: &Component, command: Vec<String>) -> Self {
        self.program = component.process.map(|process| {
            let mut spec: TargetSpec =
                formats::yaml::from_str(process).expect("a component describes its process");
            spec.command.splice(0..0, command);
            let known =
                TargetDescription { name: component.program.to_owned(), ..TargetDescription::default() };
            Box::new(CommandTarget { known, spec, folder: PathBuf::new(), image: None, decisions: None })
        });
        self
    }

    /// A stand-in of this name and version that `start` starts, tested with any contract; an error is a refused configuration.
    pub fn new<F, R>(name: &str, version: &str, features: BTreeSet<String>, start: F) -> Self
    where
        F: Fn(StartOptions) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Started, String>> + Send + 'static,
    {
        Self {
            name: name.to_owned(),
            version: version.to_owned(),
            features,
            start: Box::new(move |options| Box::pin(start(options))),
            load: None,
            decide: None,
            admits_shoots: false,
            maintains_shoots: false,
            elects_leader: false,
            component: None,
            program: None,
        }
    }

    /// The same, of which one instance leads at a time: `start` uses the elector of its clusters.
    #[must_use]
    pub fn electing_leader(self) -> Self {
        Self { elects_leader: true, ..self }
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

    fn elects_leader(&self, _component: &str) -> bool {
        self.elects_leader
    }

    fn supports(&self, component: &str, form: Form) -> bool {
        let is_own = self.component.is_none_or(|own| own == component);
        is_own && (form != Form::Versions || self.decide.is_some())
    }

    async fn configure(&self, trial: Trial<'_>) -> Result<Option<Configured>, TargetError> {
        Ok(self.load.map(|load| match load(trial.config) {
            Ok((effective, warnings)) => {
                Configured::Started { warnings: Some(warnings), effective: Some(effective) }
            }
            Err(message) => Configured::Refused { message },
        }))
    }

    fn has_program(&self) -> bool {
        self.program.is_some()
    }

    async fn act(&self, setup: Setup<'_>, action: &ProcessAction) -> Result<Option<Observed>, TargetError> {
        match &self.program {
            Some(program) => program.act(setup, action).await,
            None => Ok(None),
        }
    }

    fn versions(&self) -> Option<&dyn Versions> {
        Some(self)
    }

    async fn start(&self, setup: Setup<'_>) -> Result<Box<dyn Running>, TargetError> {
        let refused = |reason| TargetError::Configuration { name: self.name.clone(), reason };
        let clusters = setup.clusters.map(clusters).transpose();
        let options = StartOptions {
            config: setup.config.clone(),
            instance: setup.instance.to_owned(),
            controller: setup.controller.map(str::to_owned),
            now: setup.now,
            client: setup.facts.map(|facts| facts.client),
            clusters: clusters.map_err(|error| refused(error.to_string()))?,
        };
        Ok(Box::new(RunningBuiltIn((self.start)(options).await.map_err(refused)?)))
    }
}

impl Versions for BuiltIn {
    fn decide(&self, decision: &Decision, given: &Given) -> Option<Decided> {
        self.decide.map(|decide| decide(&question::of(decision, given)))
    }

    fn admits(&self) -> bool {
        self.admits_shoots
    }

    fn maintainer(&self) -> Option<&str> {
        self.component.filter(|_| self.maintains_shoots)
    }
}

fn clusters(clusters: Clusters) -> Result<component::Clusters, ElectionError> {
    let entropy = match clusters.chance {
        Chance::Seeded => Entropy::seeded(0),
        Chance::Least => Entropy::always(0.0),
        Chance::Greatest => Entropy::always(1.0),
    };
    let clock = Clock::starting_at(clusters.now);
    let elector = clusters
        .election
        .map(|Election { config, client }| Elector::new(config, client, clock, entropy.clone()))
        .transpose()?;
    Ok(component::Clusters {
        source: clusters.source.client,
        target: clusters.target.map(|target| target.client),
        now: clusters.now,
        entropy,
        elector,
    })
}

struct RunningBuiltIn(Started);

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

    fn ended(&mut self) -> Option<String> {
        (self.0.failure)()
    }

    async fn metrics(&self) -> Option<String> {
        Some((self.0.metrics)())
    }

    async fn stop(self: Box<Self>) {
        drop(self.0.guard);
    }
}
