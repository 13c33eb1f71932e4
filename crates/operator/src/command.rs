//! The command line and the process: the original's flags, and some of our own.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use controller::command::{
    self, ConfigFile, MissingConfigError, Program, StartError, Version, override_kubeconfig, print_line,
};
use controller::config::{Configuration as _, FileError, Warning};
use controller::log;
use controller::manager::{Connection, Manager, ManagerError, Parts, ProcessContext, WebhookServer, Work};
use controller::webhooks::print::{Print, PrintError};
use webhook::registration::WebhookConfiguration;

use crate::config::OperatorConfiguration;
use crate::controllers::care::VirtualCluster;
use crate::controllers::network_policy::ApiServerHost;
use crate::controllers::{self, OperatorContext};
use crate::registrations::{NAME, registrations};
use crate::serving;

/// The program.
pub const PROGRAM: Program = Program { name: NAME, version: env!("CARGO_PKG_VERSION") };

/// Launch the gardener-operator.
#[derive(Debug, Parser)]
#[command(name = PROGRAM.name, disable_version_flag = true, args_conflicts_with_subcommands = true)]
struct Arguments {
    #[command(flatten)]
    file: ConfigFile,

    #[command(flatten)]
    version: Version,

    /// Kubeconfig of the runtime cluster, in place of the one that the configuration names.
    #[arg(long, env = "KUBECONFIG", hide = true)]
    kubeconfig: Option<String>,

    /// Folder with the webhooks' certificate, `tls.crt` and `tls.key`.
    #[arg(long, value_name = "FOLDER", default_value = "/tmp/gardener-operator-cert")]
    webhook_cert_dir: String,

    #[command(flatten)]
    service: KubernetesService,

    #[command(subcommand)]
    command: Option<Show>,
}

/// The address of the API server, from the variables that a cluster sets in its processes.
#[derive(Clone, Debug, clap::Args)]
struct KubernetesService {
    /// Its host.
    #[arg(long, env = "KUBERNETES_SERVICE_HOST", hide = true)]
    kubernetes_service_host: Option<String>,

    /// Its port.
    #[arg(long, env = "KUBERNETES_SERVICE_PORT", hide = true)]
    kubernetes_service_port: Option<String>,
}

#[derive(Debug, Subcommand)]
enum Show {
    /// Show how the webhooks are registered.
    Webhooks(Print),
}

/// Why the command failed.
#[derive(Debug, thiserror::Error)]
enum CommandError {
    #[error("{0}")]
    Missing(#[from] MissingConfigError),
    #[error("{0}")]
    Config(#[from] FileError),
    #[error("{0}")]
    Run(#[from] ManagerError),
    #[error("{0}")]
    Print(#[from] PrintError),
}

/// Runs the command; like the original, errors are printed on standard output and exit with 1 (OPR-PRC-001 to -007). Its
/// servers answer as OPR-PRC-008 to -010 say.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    command::main(arguments, execute)
}

fn execute(arguments: Arguments) -> Result<(), CommandError> {
    if let Some(version) = arguments.version.text(PROGRAM) {
        print_line(&version);
        return Ok(());
    }
    if let Some(Show::Webhooks(print)) = &arguments.command {
        let made = |authorities: Option<&str>| {
            registrations(authorities).iter().map(WebhookConfiguration::to_object).collect()
        };
        return Ok(print.documents(made)?);
    }
    let (mut config, warnings) =
        OperatorConfiguration::load(arguments.file.path()?, arguments.file.strict_config)?;
    override_kubeconfig(&mut config.runtime_client_connection.kubeconfig, arguments.kubeconfig);
    Ok(run(config, arguments.webhook_cert_dir, &arguments.service, &warnings)?)
}

/// Serves webhooks, probes and metrics immediately, runs the controllers while it leads, until a signal.
fn run(
    config: OperatorConfiguration,
    certificates: String,
    service: &KubernetesService,
    warnings: &[Warning],
) -> Result<(), ManagerError> {
    let connection = &config.runtime_client_connection;
    let webhooks = &config.server.webhooks;
    let manager = Manager {
        program: PROGRAM,
        log: log::configured(&config.log_level, &config.log_format).map_err(StartError::Log)?,
        cluster: Connection {
            name: "runtime",
            kubeconfig: connection.kubeconfig.clone(),
            limit: Some((connection.qps, connection.burst)),
        },
        target: None,
        leader_election: Some(config.leader_election.clone()),
        webhooks: Some(WebhookServer {
            bind_address: webhooks.bind_address.clone(),
            port: webhooks.port,
            certificates,
        }),
        probes: Some(config.server.health_probes.clone().unwrap_or_default()),
        metrics: Some(config.server.metrics.clone().unwrap_or_default()),
    };
    manager.run(warnings, |process| parts(config, service, process))
}

fn parts(config: OperatorConfiguration, service: &KubernetesService, process: ProcessContext) -> Parts {
    let mut context = OperatorContext::new(config, &process.client, process.clock, process.entropy);
    context.api_server = ApiServerHost::of(&process.url, service.host_and_port());
    let connection = &context.config.virtual_client_connection;
    context.virtual_cluster = VirtualCluster::of_kubeconfig(&context.runtime, connection);
    Parts {
        webhooks: Some(serving::webhooks(process.client)),
        probes: context.probes(),
        controllers: Some(Work::new(vec![context.runtime.clone()], |running, stop| {
            controllers::run(context, running, stop)
        })),
    }
}

impl KubernetesService {
    fn host_and_port(&self) -> Option<(&str, &str)> {
        self.kubernetes_service_host.as_deref().zip(self.kubernetes_service_port.as_deref())
    }
}
