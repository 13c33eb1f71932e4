//! The command line: flags of Gardener's extensions, and a file with the provider's settings.

use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::Arc;

use clap::{Args, Parser, Subcommand};
use controller::command::{self, ConfigFile, MissingConfigError, Program, print_warnings};
use controller::config::{Configuration as _, FileError, Warning};
use controller::manager::ManagerError;
use controller::webhooks::component::{Component, Flags};
use controller::webhooks::print::{Print, PrintError};

use webhook::registration::WebhookConfiguration;

use crate::config::ControlPlaneWebhooksConfiguration;
use crate::registrations::{Address, registration};
use crate::serving;

const PROGRAM: Program = Program { name: "gardener-controlplane", version: env!("CARGO_PKG_VERSION") };
const COMPONENT: Component = Component { program: PROGRAM, cluster: "seed" };

/// Serves a provider's webhooks for the control planes of shoots.
#[derive(Debug, Parser)]
#[command(name = PROGRAM.name, version, args_conflicts_with_subcommands = true)]
struct Arguments {
    #[command(flatten)]
    file: ConfigFile,

    #[command(flatten)]
    flags: Flags,

    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Show how the webhooks are registered.
    Webhooks(WebhooksArguments),
}

#[derive(Debug, Args)]
struct WebhooksArguments {
    #[command(flatten)]
    file: ConfigFile,

    #[command(flatten)]
    print: Print,

    /// Namespace of the Service of the webhooks; by default `extension-provider-` and the provider's name.
    #[arg(long, value_name = "NAMESPACE")]
    namespace: Option<String>,

    /// Host and port where an API server reaches the webhooks, instead of a Service.
    #[arg(long, value_name = "HOST:PORT", conflicts_with = "namespace")]
    url: Option<String>,
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

/// Runs the command; errors are printed on standard output and exit with 1.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    command::main(arguments, |arguments: Arguments| execute(&arguments))
}

fn execute(arguments: &Arguments) -> Result<(), CommandError> {
    if let Some(Command::Webhooks(arguments)) = &arguments.command {
        return registered(arguments);
    }
    let (config, warnings) = load(&arguments.file)?;
    let config = Arc::new(config);
    Ok(COMPONENT.run(&arguments.flags, &warnings, |client, _| serving::webhooks(&config, &client))?)
}

fn registered(arguments: &WebhooksArguments) -> Result<(), CommandError> {
    let (config, warnings) = load(&arguments.file)?;
    print_warnings(&warnings);
    let address = match (&arguments.url, &arguments.namespace) {
        (Some(url), _) => Address::Url(url.clone()),
        (None, Some(namespace)) => Address::Service { namespace: namespace.clone(), port: 443 },
        (None, None) => Address::service_of(&config.provider),
    };
    let made = |authorities: Option<&str>| {
        registration(&config, &address, authorities).iter().map(WebhookConfiguration::to_object).collect()
    };
    Ok(arguments.print.documents(made)?)
}

fn load(file: &ConfigFile) -> Result<(ControlPlaneWebhooksConfiguration, Vec<Warning>), CommandError> {
    Ok(ControlPlaneWebhooksConfiguration::load(file.path()?, file.strict_config)?)
}
