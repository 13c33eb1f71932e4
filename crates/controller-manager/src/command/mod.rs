//! The command line: the flags of the original, and what it lacks.

mod run;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;
use controller::command::{self, ConfigFile, Version, replace, say};

use crate::config::file::{self, FileError};

const NAME: &str = "gardener-controller-manager";

/// Launch the gardener-controller-manager.
#[derive(Debug, Parser)]
#[command(name = NAME, disable_version_flag = true)]
struct Arguments {
    #[command(flatten)]
    file: ConfigFile,

    #[command(flatten)]
    version: Version,

    /// Kubeconfig of the garden, in place of the one that the configuration names.
    #[arg(long, env = "KUBECONFIG", hide = true)]
    kubeconfig: Option<String>,
}

/// Why the command ended badly.
#[derive(Debug, thiserror::Error)]
enum CommandError {
    #[error("missing config file")]
    MissingConfig,
    #[error("{0}")]
    Config(#[from] FileError),
    #[error("{0}")]
    Run(#[from] run::RunError),
    #[error("failed to start the runtime: {0}")]
    Runtime(#[source] std::io::Error),
}

/// Runs the command; errors are printed on standard output and end with 1.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    command::main(arguments, execute)
}

fn execute(arguments: Arguments) -> Result<(), CommandError> {
    if let Some(version) = arguments.version.text(NAME, env!("CARGO_PKG_VERSION")) {
        say(&version);
        return Ok(());
    }
    let path = arguments.file.config.ok_or(CommandError::MissingConfig)?;
    let (mut config, warnings) = file::load(&path, arguments.file.strict_config)?;
    replace(&mut config.garden_client_connection.kubeconfig, arguments.kubeconfig);
    Ok(command::block_on(run::run(config, &warnings)).map_err(CommandError::Runtime)??)
}
