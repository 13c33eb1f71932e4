//! A program whose controllers work with one garden: its context, its command line and its process.
//!
//! A component implements [`GardenProgram`] for its configuration; [`main`] is its program.

use std::ffi::OsString;
use std::fmt::Debug;
use std::future::ready;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::{CommandFactory as _, Parser};
use kube::Client;
use tokio_util::sync::CancellationToken;

use crate::clock::Clock;
use crate::cluster::{CacheOptions, Cluster};
use crate::command::{
    self, ConfigFile, MissingConfigError, Program, StartError, Version, override_kubeconfig, print_line,
};
use crate::config::{ClientConnection, Configuration, FileError, LeaderElection, Servers, Warning};
use crate::controller::Controller;
use crate::controllers::Controllers;
use crate::entropy::Entropy;
use crate::log;
use crate::manager::{Connection, Manager, ManagerError, Parts, ProcessContext, Work};
use crate::probes::Probes;
use crate::task::{LeaderWorkError, Task, run_beside};

/// How often handlers receive every object again.
const RESYNC: Duration = Duration::from_hours(10);

/// The configuration of a program whose controllers work with one garden.
pub trait GardenProgram: Configuration + Clone + Debug + Send + Sync + 'static {
    /// The program.
    const PROGRAM: Program;

    /// What its process needs of the configuration.
    fn settings(&mut self) -> Settings<'_>;

    /// Its controllers.
    fn controllers(context: &GardenContext<Self>) -> Vec<Controller>;

    /// What its leader does once when the process starts.
    #[must_use]
    fn tasks(_context: &GardenContext<Self>) -> Vec<Task> {
        Vec::new()
    }
}

/// What a process needs of its configuration.
#[derive(Debug)]
pub struct Settings<'a> {
    /// How to connect to the garden.
    pub connection: &'a mut ClientConnection,
    /// Leader election among several instances.
    pub leader_election: &'a LeaderElection,
    /// Addresses of the servers.
    pub servers: &'a Servers,
    /// Level of the log.
    pub log_level: &'a str,
    /// Format of the log.
    pub log_format: &'a str,
}

/// The client, stores and settings of all controllers. Cheap to clone.
#[derive(Debug)]
pub struct GardenContext<C> {
    /// The configuration, with defaults filled in.
    pub config: Arc<C>,
    /// The garden.
    pub garden: Cluster,
    /// The time of day.
    pub clock: Clock,
    /// Jitter and ids.
    pub entropy: Entropy,
}

impl<C> Clone for GardenContext<C> {
    fn clone(&self) -> Self {
        let Self { config, garden, clock, entropy } = self;
        Self { config: Arc::clone(config), garden: garden.clone(), clock: *clock, entropy: entropy.clone() }
    }
}

impl<C> GardenContext<C> {
    /// The context of controllers; sends no request before the garden is run.
    #[must_use]
    pub fn new(config: C, client: &Client, clock: Clock, entropy: Entropy) -> Self {
        let options = CacheOptions { namespaces: Vec::new(), resync: Some(RESYNC) };
        let garden = Cluster::new("garden", client.clone(), options, entropy.clone());
        Self { config: Arc::new(config), garden, clock, entropy }
    }
}

/// The original's flags, plus `--kubeconfig`.
#[derive(Debug, Parser)]
#[command(disable_version_flag = true)]
struct Arguments {
    #[command(flatten)]
    file: ConfigFile,

    #[command(flatten)]
    version: Version,

    /// Kubeconfig of the garden, in place of the one that the configuration names.
    #[arg(long, env = "KUBECONFIG", hide = true)]
    kubeconfig: Option<String>,
}

/// Why the program failed.
#[derive(Debug, thiserror::Error)]
enum ProgramError {
    #[error("{0}")]
    Missing(#[from] MissingConfigError),
    #[error("{0}")]
    Config(#[from] FileError),
    #[error("{0}")]
    Run(#[from] ManagerError),
}

/// Runs a program; errors are printed on standard output and exit with 1.
pub fn main<C: GardenProgram>(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let usage = Arguments::command().name(C::PROGRAM.name).about(format!("Launch the {}.", C::PROGRAM.name));
    command::run(usage, arguments, execute::<C>)
}

fn execute<C: GardenProgram>(arguments: Arguments) -> Result<(), ProgramError> {
    if let Some(version) = arguments.version.text(C::PROGRAM) {
        print_line(&version);
        return Ok(());
    }
    let (mut config, warnings) = C::load(arguments.file.path()?, arguments.file.strict_config)?;
    override_kubeconfig(&mut config.settings().connection.kubeconfig, arguments.kubeconfig);
    Ok(run(config, &warnings)?)
}

/// Serves probes and metrics immediately, runs the controllers while it leads, until a signal.
fn run<C: GardenProgram>(mut config: C, warnings: &[Warning]) -> Result<(), ManagerError> {
    let Settings { connection, leader_election, servers, log_level, log_format } = config.settings();
    let manager = Manager {
        program: C::PROGRAM,
        log: log::configured(log_level, log_format).map_err(StartError::Log)?,
        cluster: Connection {
            name: "garden",
            kubeconfig: connection.kubeconfig.clone(),
            limit: Some((connection.qps, connection.burst)),
        },
        target: None,
        leader_election: Some(leader_election.clone()),
        webhooks: None,
        probes: Some(servers.health_probes.clone().unwrap_or_default()),
        metrics: Some(servers.metrics.clone().unwrap_or_default()),
    };
    manager.run(warnings, |process| parts(config, process))
}

fn parts<C: GardenProgram>(config: C, process: ProcessContext) -> Parts {
    let context = GardenContext::new(config, &process.client, process.clock, process.entropy);
    let probes = probes(context.garden.clone());
    let work =
        Work::new(vec![context.garden.clone()], |running, stop| lead(context, |_| true, running, stop));
    Parts { webhooks: None, probes, controllers: Some(work) }
}

/// Runs the controllers of a program until `stop` is cancelled, and at the same time each of its tasks whose name is
/// `wanted`.
///
/// # Errors
/// When a task or a controller fails.
pub async fn lead<C: GardenProgram>(
    context: GardenContext<C>,
    wanted: impl Fn(&str) -> bool,
    running: Controllers,
    stop: CancellationToken,
) -> Result<(), LeaderWorkError> {
    let tasks = C::tasks(&context).into_iter().filter(|task| wanted(task.name())).collect();
    run_beside((&running, C::controllers(&context)), tasks, stop).await
}

/// The checks of the original, by its names.
fn probes(garden: Cluster) -> Probes {
    Probes::new().ready("informer-sync", move || {
        ready(if garden.is_synced() { Ok(()) } else { Err("informers are not synced".to_owned()) })
    })
}
