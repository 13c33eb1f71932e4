//! The command line: the original's flags, plus `--kubeconfig`.

mod run;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;
use controller::command::{
    self, ConfigFile, MissingConfigError, Program, Version, override_kubeconfig, print_line,
};
use controller::config::Configuration as _;
use controller::manager::ManagerError;

use crate::config::SchedulerConfiguration;
use crate::config::file::FileError;

const PROGRAM: Program = Program { name: "gardener-scheduler", version: env!("CARGO_PKG_VERSION") };

/// Launch the gardener-scheduler.
#[derive(Debug, Parser)]
#[command(name = PROGRAM.name, disable_version_flag = true)]
struct Arguments {
    #[command(flatten)]
    file: ConfigFile,

    #[command(flatten)]
    version: Version,

    /// Kubeconfig of the garden, in place of the one that the configuration names.
    #[arg(long, env = "KUBECONFIG", hide = true)]
    kubeconfig: Option<String>,
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
}

/// Runs the command; errors are printed on standard output and exit with 1 (SCH-PRC-001 to -007). Its servers answer
/// as SCH-PRC-012 and SCH-PRC-013 say.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    command::main(arguments, execute)
}

fn execute(arguments: Arguments) -> Result<(), CommandError> {
    if let Some(version) = arguments.version.text(PROGRAM) {
        print_line(&version);
        return Ok(());
    }
    let (mut config, warnings) =
        SchedulerConfiguration::load(arguments.file.path()?, arguments.file.strict_config)?;
    override_kubeconfig(&mut config.client_connection.kubeconfig, arguments.kubeconfig);
    Ok(run::run(PROGRAM, config, &warnings)?)
}
