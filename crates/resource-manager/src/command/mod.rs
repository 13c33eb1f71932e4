//! The command line: the original's flags, plus kubeconfigs and the printing of registrations.

pub mod memory;
mod run;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand, ValueEnum};
use controller::command::{
    self, ConfigFile, MissingConfigError, Program, Version, override_kubeconfig, print_line, print_warnings,
};
use controller::config::{Configuration as _, FileError, Warning};
use controller::manager::ManagerError;
use controller::webhooks::print::{Print, PrintError};

use crate::config::ResourceManagerConfiguration;
use crate::registrations::{Instance, objects};

const PROGRAM: Program = Program { name: "gardener-resource-manager", version: env!("CARGO_PKG_VERSION") };

/// Launch the gardener-resource-manager.
#[derive(Debug, Parser)]
#[command(name = PROGRAM.name, disable_version_flag = true, args_conflicts_with_subcommands = true)]
struct Arguments {
    #[command(flatten)]
    file: ConfigFile,

    #[command(flatten)]
    version: Version,

    /// Kubeconfig of the source cluster, in place of the one that the configuration names.
    #[arg(long, env = "KUBECONFIG", hide = true)]
    kubeconfig: Option<String>,

    /// Kubeconfig of the target cluster, in place of the one that the configuration names.
    #[arg(long, env = "TARGET_KUBECONFIG", hide = true)]
    target_kubeconfig: Option<String>,

    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Show how the enabled webhooks are registered.
    Webhooks(WebhooksArguments),
}

#[derive(Debug, Args)]
struct WebhooksArguments {
    #[command(flatten)]
    file: ConfigFile,

    #[command(flatten)]
    print: Print,

    /// Which cluster the instance serves; by default a shoot if the configuration has a target cluster.
    #[arg(long = "for", value_name = "INSTANCE")]
    instance: Option<InstanceName>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum InstanceName {
    Seed,
    Shoot,
}

impl From<InstanceName> for Instance {
    fn from(name: InstanceName) -> Self {
        match name {
            InstanceName::Seed => Self::Seed,
            InstanceName::Shoot => Self::Shoot,
        }
    }
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

/// Runs the command; like the original, errors are printed on standard output and exit with 1 (GRM-PRC-001 to -007). Its servers
/// answer as GRM-PRC-010 to -013 say.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    command::main(arguments, execute)
}

fn execute(arguments: Arguments) -> Result<(), CommandError> {
    if let Some(version) = arguments.version.text(PROGRAM) {
        print_line(&version);
        return Ok(());
    }
    match arguments.command {
        Some(Command::Webhooks(arguments)) => {
            let (config, warnings) = load(&arguments.file)?;
            print_warnings(&warnings);
            let has_target = config.target_client_connection.is_some();
            let usual = if has_target { Instance::Shoot } else { Instance::Seed };
            let instance = arguments.instance.map_or(usual, Into::into);
            Ok(arguments.print.documents(|authorities| objects(&config, instance, authorities))?)
        }
        None => {
            let (mut config, warnings) = load(&arguments.file)?;
            override_kubeconfig(&mut config.source_client_connection.kubeconfig, arguments.kubeconfig);
            if let Some(target) = &mut config.target_client_connection {
                override_kubeconfig(&mut target.kubeconfig, arguments.target_kubeconfig);
            }
            Ok(run::run(PROGRAM, config, &warnings)?)
        }
    }
}

fn load(file: &ConfigFile) -> Result<(ResourceManagerConfiguration, Vec<Warning>), CommandError> {
    Ok(ResourceManagerConfiguration::load(file.path()?, file.strict_config)?)
}
