//! The command line: the flags of the original, and what it lacks.

mod leading;
mod print;
mod run;

use std::ffi::OsString;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand, ValueEnum};
use controller::config::Warning;

use crate::config::ResourceManagerConfiguration;
use crate::config::file::{self, FileError};
use crate::registrations::Instance;

const NAME: &str = "gardener-resource-manager";

/// Launch the gardener-resource-manager.
#[derive(Debug, Parser)]
#[command(name = NAME, disable_version_flag = true, args_conflicts_with_subcommands = true)]
struct Arguments {
    #[command(flatten)]
    file: ConfigFile,

    /// Print version information and quit; `--version=raw` prints more.
    #[arg(long, value_name = "raw", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    version: Option<String>,

    /// Kubeconfig of the source cluster, in place of the one that the configuration names.
    #[arg(long, env = "KUBECONFIG", hide = true)]
    kubeconfig: Option<String>,

    /// Kubeconfig of the target cluster, in place of the one that the configuration names.
    #[arg(long, env = "TARGET_KUBECONFIG", hide = true)]
    target_kubeconfig: Option<String>,

    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Args)]
struct ConfigFile {
    /// Path to configuration file.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// Refuse a configuration file with unknown fields instead of warning of them.
    #[arg(long)]
    strict_config: bool,
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

    /// Print the webhook configurations as YAML.
    #[arg(long, required = true)]
    print: bool,

    /// What the instance is for; by default a shoot if the configuration has a target cluster.
    #[arg(long = "for", value_name = "INSTANCE")]
    instance: Option<InstanceName>,

    /// PEM file with the authorities that the API server shall trust.
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,
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

/// Why the command ended badly.
#[derive(Debug, thiserror::Error)]
enum CommandError {
    #[error("missing config file")]
    MissingConfig,
    #[error("{0}")]
    Config(#[from] FileError),
    #[error("{0}")]
    Run(#[from] run::RunError),
    #[error("{0}")]
    Print(#[from] print::PrintError),
    #[error("failed to start the runtime: {0}")]
    Runtime(#[source] std::io::Error),
}

/// Runs the command; errors are printed on standard output, as the original does, and end with 1.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments,
        Err(usage) => {
            // A closed terminal is no reason for another exit code.
            let _ = usage.print();
            return ExitCode::from(u8::from(usage.use_stderr()));
        }
    };
    match execute(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&error.to_string());
            ExitCode::FAILURE
        }
    }
}

fn execute(arguments: Arguments) -> Result<(), CommandError> {
    if let Some(style) = arguments.version {
        say(&version(&style));
        return Ok(());
    }
    match arguments.command {
        Some(Command::Webhooks(arguments)) => {
            let (config, warnings) = load(&arguments.file)?;
            for warning in warnings {
                let _ = writeln!(std::io::stderr(), "{warning}");
            }
            say(&print::webhooks(&config, arguments.instance.map(Into::into), arguments.ca.as_deref())?);
            Ok(())
        }
        None => {
            let (mut config, warnings) = load(&arguments.file)?;
            replace(&mut config.source_client_connection.kubeconfig, arguments.kubeconfig);
            if let Some(target) = &mut config.target_client_connection {
                replace(&mut target.kubeconfig, arguments.target_kubeconfig);
            }
            // One thread answers as many reviews as eight cores of the original; each more costs half a MiB.
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .map_err(CommandError::Runtime)?;
            Ok(runtime.block_on(run::run(config, &warnings))?)
        }
    }
}

fn load(file: &ConfigFile) -> Result<(ResourceManagerConfiguration, Vec<Warning>), CommandError> {
    let path = file.config.as_deref().ok_or(CommandError::MissingConfig)?;
    Ok(file::load(path, file.strict_config)?)
}

fn replace(kubeconfig: &mut String, other: Option<String>) {
    if let Some(path) = other.filter(|path| !path.is_empty()) {
        *kubeconfig = path;
    }
}

fn version(style: &str) -> String {
    let number = env!("CARGO_PKG_VERSION");
    let (os, arch) = (std::env::consts::OS, std::env::consts::ARCH);
    if style == "raw" {
        format!("version.Info{{GitVersion:\"v{number}\", Platform:\"{os}/{arch}\"}}")
    } else {
        format!("{NAME} v{number}")
    }
}

fn say(text: &str) {
    // A closed pipe, as behind `| head`, is no error worth another exit code.
    let _ = writeln!(std::io::stdout(), "{}", text.trim_end());
}
