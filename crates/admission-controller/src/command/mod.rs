//! The command line: the original's flags, and some of our own.

mod run;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};
use controller::command::{
    self, ConfigFile, MissingConfigError, Program, Version, override_kubeconfig, print_line, print_warnings,
};
use controller::config::{Configuration as _, FileError};
use controller::webhooks::print::{Print, PrintError};
use webhook::registration::WebhookConfiguration;

use self::run::RunError;
use crate::authorizer::UnknownDeletions;
use crate::config::AdmissionControllerConfiguration;
use crate::registrations::registrations;

const PROGRAM: Program =
    Program { name: "gardener-admission-controller", version: env!("CARGO_PKG_VERSION") };

/// Launch the gardener-admission-controller.
#[derive(Debug, Parser)]
#[command(name = PROGRAM.name, disable_version_flag = true, args_conflicts_with_subcommands = true)]
struct Arguments {
    #[command(flatten)]
    file: ConfigFile,

    #[command(flatten)]
    version: Version,

    /// Kubeconfig of the garden, in place of the one that the configuration names.
    #[arg(long, env = "KUBECONFIG", hide = true)]
    kubeconfig: Option<String>,

    /// Let clients of seeds delete only what belongs to their seeds. The original also lets them delete what nothing
    /// refers to, such as Secrets of projects.
    #[arg(long)]
    refuse_unknown_deletions: bool,

    #[command(subcommand)]
    command: Option<Show>,
}

#[derive(Debug, Subcommand)]
enum Show {
    /// Show how the webhooks are registered.
    Webhooks(WebhooksArguments),
}

#[derive(Debug, Args)]
struct WebhooksArguments {
    #[command(flatten)]
    file: ConfigFile,

    #[command(flatten)]
    print: Print,
}

/// Why the command failed.
#[derive(Debug, thiserror::Error)]
enum CommandError {
    #[error("{0}")]
    Missing(#[from] MissingConfigError),
    #[error("{0}")]
    Config(#[from] FileError),
    #[error("{0}")]
    Run(#[from] RunError),
    #[error("{0}")]
    Print(#[from] PrintError),
}

/// Runs the command; like the original, errors are printed on standard output and exit with 1 (ADM-PRC-001 to -004). Its
/// servers answer as ADM-PRC-005 to -009 say.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    command::main(arguments, execute)
}

fn execute(arguments: Arguments) -> Result<(), CommandError> {
    if let Some(version) = arguments.version.text(PROGRAM) {
        print_line(&version);
        return Ok(());
    }
    let load = |file: &ConfigFile| -> Result<_, CommandError> {
        Ok(AdmissionControllerConfiguration::load(file.path()?, file.strict_config)?)
    };
    if let Some(Show::Webhooks(arguments)) = &arguments.command {
        let (config, warnings) = load(&arguments.file)?;
        print_warnings(&warnings);
        let made = |authorities: Option<&str>| {
            registrations(&config, authorities).iter().map(WebhookConfiguration::to_object).collect()
        };
        return Ok(arguments.print.documents(made)?);
    }
    let (mut config, warnings) = load(&arguments.file)?;
    override_kubeconfig(&mut config.garden_client_connection.kubeconfig, arguments.kubeconfig);
    let unknown = if arguments.refuse_unknown_deletions {
        UnknownDeletions::Refused
    } else {
        UnknownDeletions::Allowed
    };
    Ok(run::run(PROGRAM, config, &warnings, unknown)?)
}
