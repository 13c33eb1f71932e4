//! A binary, or a container of an image, that is started for the run, once per configuration, and always killed with its children.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use contract::case::Given;
use contract::document::target::TargetSpec;
use contract::gardener::decision::Decision;
use contract::model::Form;
use contract::process::{ProcessAction, Server};
use serde_json::Value;
use webhook::dial::{Dialer, Https, Target as Address, Trust};
use webhook::registration::WebhookConfiguration;

use super::url::TargetDescription;
use super::{
    Configurable, Configured, Identity, Needs, Observed, Running, Setup, Target, TargetError, TargetKind,
    Trial, plain,
};
use crate::gardener::{Decided, Versions};

mod act;
mod addresses;
mod certificate;
mod configuration;
mod container;
mod effective;
mod exchange;
mod location;
mod placeholders;
mod process;
mod program;
mod ready;

pub use container::Image;

use addresses::Addresses;
use location::ProgramLocation;
use placeholders::Placeholders;
use process::Process;
use program::Program;

/// Number of attempts to start if a port is in use.
const ATTEMPTS: usize = 4;

/// Whether a target file describes a program without webhooks: the tool starts it, and it has `ready`, but no `url`.
#[must_use]
pub fn has_only_controllers(spec: &TargetSpec) -> bool {
    spec.is_started() && spec.url.is_none() && spec.ready.is_some()
}

/// A binary or a container that is started for the run.
#[derive(Clone)]
pub struct CommandTarget {
    /// Its description.
    pub known: TargetDescription,
    /// Its target file's `spec`: command, env, url, ready, config.
    pub spec: TargetSpec,
    /// Folder to which paths of the target file are relative.
    pub folder: PathBuf,
    /// Its image; absent: the command is a program of this machine.
    pub image: Option<Image>,
    /// Finds rows about versions that mean the same at another time; without it, no row about versions runs.
    pub decisions: Option<Arc<dyn Target>>,
}

#[async_trait]
impl Target for CommandTarget {
    fn identity(&self) -> Identity {
        let kind = if self.image.is_some() { TargetKind::Image } else { TargetKind::Command };
        let image = self.image.as_ref().map(|image| &image.name);
        let words: Vec<&str> =
            image.into_iter().chain(&self.spec.command).chain(&self.spec.args).map(String::as_str).collect();
        self.known.identity(kind, &words.join(" "))
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

    fn needs(&self) -> &Needs {
        &self.known.needs
    }

    fn supports(&self, _component: &str, form: Form) -> bool {
        match form {
            Form::Versions => Versions::maintainer(self).is_some(),
            Form::Scenario | Form::Configuration | Form::Process => true,
            _ => !has_only_controllers(&self.spec),
        }
    }

    fn configurable(&self, _component: &str) -> Configurable {
        if self.spec.config.is_some() { Configurable::Any } else { Configurable::Unknown }
    }

    async fn configure(&self, trial: Trial<'_>) -> Result<Option<Configured>, TargetError> {
        if self.spec.config.is_none() {
            return Ok(None);
        }
        if trial.effective {
            return effective::print(self, &trial).await.map(Some);
        }
        let setup = Setup {
            component: "",
            now: None,
            config: trial.config,
            instance: "seed",
            controller: None,
            facts: trial.facts,
            clusters: None,
        };
        match self.start(setup).await {
            Ok(running) => {
                running.stop().await;
                Ok(Some(Configured::Started { warnings: None, effective: None }))
            }
            Err(TargetError::Ended { last_output, .. }) => {
                Ok(Some(Configured::Refused { message: last_output }))
            }
            Err(error) => Err(error),
        }
    }

    fn has_program(&self) -> bool {
        true
    }

    async fn act(&self, setup: Setup<'_>, action: &ProcessAction) -> Result<Option<Observed>, TargetError> {
        act::act(self, setup, action).await.map(Some)
    }

    fn versions(&self) -> Option<&dyn Versions> {
        Some(self)
    }

    async fn start(&self, setup: Setup<'_>) -> Result<Box<dyn Running>, TargetError> {
        Ok(Box::new(self.begin(setup).await?.0))
    }
}

impl CommandTarget {
    /// Starts it and waits until it is ready; also returns the authority that signed its certificate.
    async fn begin(&self, setup: Setup<'_>) -> Result<(RunningCommand, Vec<u8>), TargetError> {
        for _ in 1..ATTEMPTS {
            match self.begin_once(setup.clone()).await {
                // A port that was free a moment ago may be someone else's by now.
                Err(
                    TargetError::Ended { last_output: output, .. }
                    | TargetError::Container { message: output, .. },
                ) if is_port_in_use(&output) => {}
                result => return result,
            }
        }
        self.begin_once(setup).await
    }
}

impl Versions for CommandTarget {
    fn decide(&self, decision: &Decision, given: &Given) -> Option<Decided> {
        self.decisions.as_ref()?.versions()?.decide(decision, given)
    }

    fn runs_decisions(&self) -> bool {
        false
    }

    fn maintainer(&self) -> Option<&str> {
        (self.decisions.is_some() && has_only_controllers(&self.spec)).then_some(&*self.known.name)
    }
}

impl CommandTarget {
    fn program(&self, placeholders: &Placeholders) -> Result<Program, TargetError> {
        let env = self.spec.env.iter().map(|(name, value)| Ok((name.clone(), placeholders.fill(value)?)));
        Ok(Program {
            command: placeholders.fill_all(&self.spec.command)?,
            args: placeholders.fill_all(&self.spec.args)?,
            env: env.collect::<Result<BTreeMap<_, _>, TargetError>>()?,
        })
    }

    /// Its files, addresses and command line.
    async fn prepare(&self, setup: &Setup<'_>) -> Result<Prepared, TargetError> {
        let folder = tempfile::Builder::new().prefix("gardener-conformance-").tempdir();
        let folder = folder.map_err(|source| file("create", "a temporary folder", source))?;
        let mut location = ProgramLocation::of(self.image.as_ref(), folder.path()).await?;
        let authority = certificate::write(&location.files().here.join("certs"), location.host())?;
        let placeholders = self.placeholders(&mut location, setup).await?;
        let program = self.program(&placeholders)?;
        Ok(Prepared { folder, location, authority, placeholders, program })
    }

    /// Where one of its servers listens, with placeholders, if the target file contains it.
    fn address_of(&self, server: Server) -> Option<&str> {
        match server {
            Server::Webhooks if !has_only_controllers(&self.spec) => {
                self.spec.url.as_deref().or(Some(addresses::URL))
            }
            Server::Webhooks => None,
            Server::Probes => self.spec.ready.as_deref(),
            Server::Metrics => self.spec.metrics.as_deref(),
        }
    }

    async fn begin_once(&self, setup: Setup<'_>) -> Result<(RunningCommand, Vec<u8>), TargetError> {
        let Prepared { folder, location, authority, placeholders, program } = self.prepare(&setup).await?;
        let addresses = Addresses::of(&self.spec, &placeholders)?;
        let line = location.line(program, &addresses.all())?;
        let mut process = Process::spawn(line, (&self.folder, folder.path()))?;
        let addresses = addresses.as_reached(&location);
        let dialer = self.contact(&mut process, &location, &addresses, authority.clone()).await;
        let dialer = dialer.map_err(|error| location.creation_error().unwrap_or(error))?;
        let running = RunningCommand {
            dialer: Arc::new(dialer),
            known: self.known.clone(),
            registrations: self.known.registrations_of(setup.instance),
            addresses,
            process,
            _location: location,
            _folder: folder,
        };
        Ok((running, authority))
    }

    /// The values of placeholders; also writes the configuration file.
    async fn placeholders(
        &self,
        location: &mut ProgramLocation,
        setup: &Setup<'_>,
    ) -> Result<Placeholders, TargetError> {
        let target = setup.clusters.as_ref().and_then(|clusters| clusters.target.as_ref());
        let named = |placeholder| self.image.is_none() || self.uses_placeholder(placeholder);
        let (of_source, of_target) = (named("<sourceKubeconfig>"), named("<targetKubeconfig>"));
        let source = setup.facts.as_ref().filter(|_| of_source || (of_target && target.is_none()));
        let kubeconfigs = location.kubeconfigs(source, target.filter(|_| of_target)).await?;
        let placeholders = Placeholders::new(location.files(), kubeconfigs)?;
        if let Some(config) = &self.spec.config {
            let two = target.is_some();
            let content = configuration::make(config, &self.folder, setup.config, &placeholders, two)?;
            placeholders.write_config(&content)?;
        }
        Ok(placeholders)
    }

    /// Whether its target file or configuration uses a placeholder: without, it gets no credentials.
    fn uses_placeholder(&self, placeholder: &str) -> bool {
        let spec = serde_json::to_string(&self.spec).unwrap_or_default();
        let file = self.spec.config.as_ref().and_then(|config| config.file.as_ref());
        let file = file.and_then(|file| std::fs::read_to_string(self.folder.join(file)).ok());
        [Some(spec), file].into_iter().flatten().any(|text| text.contains(placeholder))
    }

    /// Waits until it is ready, and connects to it.
    async fn contact(
        &self,
        process: &mut Process,
        location: &ProgramLocation,
        addresses: &Addresses,
        authority: Vec<u8>,
    ) -> Result<Https, TargetError> {
        ready::wait(process, addresses, location.hint()).await?;
        let (url, trust) = (addresses.url.clone(), Trust::Bundle(authority));
        let address = Address { url, address: None, server_name: None, trust };
        let dialer = Https::new(&address).map_err(|source| TargetError::Unreachable { source })?;
        if !has_only_controllers(&self.spec) {
            ready::contact(process, &dialer, (&addresses.url, &self.known), location.is_proxied()).await?;
        }
        Ok(dialer)
    }
}

/// How long a program's output is waited for after an exchange that failed.
const SETTLE: Duration = Duration::from_millis(50);

/// What a start needs.
struct Prepared {
    folder: tempfile::TempDir,
    location: ProgramLocation,
    /// PEM of the authority that signed the program's certificate.
    authority: Vec<u8>,
    placeholders: Placeholders,
    program: Program,
}

struct RunningCommand {
    dialer: Arc<Https>,
    known: TargetDescription,
    registrations: Option<Vec<WebhookConfiguration>>,
    addresses: Addresses,
    process: Process,
    /// Keeps the connections to its clusters open.
    _location: ProgramLocation,
    /// Certificates and configuration; removed with the target.
    _folder: tempfile::TempDir,
}

#[async_trait]
impl Running for RunningCommand {
    fn dialer(&self) -> Arc<dyn Dialer> {
        Arc::<Https>::clone(&self.dialer)
    }

    fn registrations(&self) -> Option<&[WebhookConfiguration]> {
        self.registrations.as_deref()
    }

    fn paths(&self, webhook: &str) -> Vec<String> {
        self.known.paths_of(webhook)
    }

    fn ended(&mut self) -> Option<String> {
        self.process.ended()
    }

    fn last_output(&self) -> String {
        self.process.last_output()
    }

    fn output_mark(&self) -> u64 {
        self.process.output_mark()
    }

    async fn output_since(&self, mark: u64) -> String {
        // What the program wrote before it closed a connection may still be in the pipe.
        tokio::time::sleep(SETTLE).await;
        self.process.output_since(mark)
    }

    async fn metrics(&self) -> Option<String> {
        plain::read(self.addresses.metrics.as_deref()?).await
    }

    async fn stop(self: Box<Self>) {
        self.process.stop().await;
    }
}

/// Whether the output of a program or of Docker reports that a port is in use.
fn is_port_in_use(last_output: &str) -> bool {
    let output = last_output.to_lowercase();
    output.contains("in use") || output.contains("port is already allocated")
}

fn file(step: &'static str, path: &str, source: std::io::Error) -> TargetError {
    TargetError::File { step, path: path.to_owned(), source }
}
