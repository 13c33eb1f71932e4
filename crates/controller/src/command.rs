//! The command line of a component: flags that every component has, version output, errors and exit codes.

use std::ffi::OsString;
use std::fmt::Display;
use std::future::Future;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::builder::{OsStringValueParser, TypedValueParser as _};
use clap::{Args, Parser};
use formats::depth;

use crate::clock::Clock;
use crate::config::Warning;
use crate::log::{self, LogError};

/// A component as a program.
#[derive(Clone, Copy, Debug)]
pub struct Program {
    /// Its name, `gardener-resource-manager`.
    pub name: &'static str,
    /// Its version, `0.1.0`.
    pub version: &'static str,
}

/// Why a program could not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The log cannot be set up.
    #[error("error instantiating log: {0}")]
    Log(#[from] LogError),
    /// The async runtime cannot be started.
    #[error("failed to start the runtime: {0}")]
    Runtime(#[source] std::io::Error),
}

/// The command line names no configuration file.
#[derive(Debug, thiserror::Error)]
#[error("missing config file: set --config FILE")]
pub struct MissingConfigError;

/// Flags about the configuration file.
#[derive(Clone, Debug, Args)]
pub struct ConfigFile {
    /// Path to configuration file.
    #[arg(long, value_name = "FILE", value_parser = OsStringValueParser::new().map(PathBuf::from))]
    pub config: Option<PathBuf>,

    /// Refuse a configuration file with unknown fields instead of warning of them.
    #[arg(long)]
    pub strict_config: bool,
}

impl ConfigFile {
    /// The file, for components that require one.
    ///
    /// # Errors
    /// If the command line names none, or an empty one.
    pub fn path(&self) -> Result<&Path, MissingConfigError> {
        self.config.as_deref().filter(|path| !path.as_os_str().is_empty()).ok_or(MissingConfigError)
    }
}

/// The flag `--version`.
#[derive(Clone, Debug, Args)]
pub struct Version {
    /// Print version information and quit; `--version=raw` prints more.
    #[arg(long, value_name = "raw", num_args = 0..=1, require_equals = true, default_missing_value = "true", value_parser = VersionStyle::parse)]
    pub version: Option<VersionStyle>,
}

/// What is printed of the version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VersionStyle {
    /// Name and version.
    Line,
    /// Details.
    Raw,
    /// Nothing: `--version=false`, and `--version=v1.2.3`, by which the originals report another version.
    None,
}

impl VersionStyle {
    /// The values of the originals: `raw`, a version, or a boolean as Go reads it.
    fn parse(text: &str) -> Result<Self, String> {
        match text {
            "raw" => Ok(Self::Raw),
            "1" | "t" | "T" | "TRUE" | "true" | "True" => Ok(Self::Line),
            "0" | "f" | "F" | "FALSE" | "false" | "False" => Ok(Self::None),
            _ if text.starts_with('v') => Ok(Self::None),
            _ => Err("set true, false or raw".to_owned()),
        }
    }
}

impl Version {
    /// The version text, if the flag is set.
    #[must_use]
    pub fn text(&self, program: Program) -> Option<String> {
        let Program { name, version: number } = program;
        let (os, arch) = (std::env::consts::OS, std::env::consts::ARCH);
        match self.version? {
            VersionStyle::Line => Some(format!("{name} v{number}")),
            VersionStyle::Raw => {
                Some(format!("version.Info{{GitVersion:\"v{number}\", Platform:\"{os}/{arch}\"}}"))
            }
            VersionStyle::None => None,
        }
    }
}

/// Parses the arguments and executes the command; like the originals, prints errors on standard output and exits with
/// 1.
pub fn main<A: Parser, E: Display>(
    arguments: impl IntoIterator<Item = OsString>,
    execute: impl FnOnce(A) -> Result<(), E>,
) -> ExitCode {
    run(A::command(), arguments, execute)
}

/// Like [`main`], for a command line that `A` does not describe alone: its name, for instance, is another.
pub(crate) fn run<A: Parser, E: Display>(
    command: clap::Command,
    arguments: impl IntoIterator<Item = OsString>,
    execute: impl FnOnce(A) -> Result<(), E>,
) -> ExitCode {
    // Usage shows the program's name even if the executable is called something else, for instance in an image.
    let name = command.get_name().to_owned();
    let matches = command.bin_name(name).try_get_matches_from(arguments);
    let arguments = match matches.and_then(|matches| A::from_arg_matches(&matches)) {
        Ok(arguments) => arguments,
        Err(usage) => {
            // A closed terminal does not change the exit code.
            let _ = usage.print();
            return ExitCode::from(u8::from(usage.use_stderr()));
        }
    };
    match execute(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            print_line(&error.to_string());
            ExitCode::FAILURE
        }
    }
}

/// Replaces the configured kubeconfig by `other` unless that is empty.
pub fn override_kubeconfig(kubeconfig: &mut String, other: Option<String>) {
    if let Some(path) = other.filter(|path| !path.is_empty()) {
        *kubeconfig = path;
    }
}

impl Program {
    /// Runs a component in this thread until it ends: it has little work to do in parallel. Everything is logged,
    /// including warnings about its configuration.
    ///
    /// # Errors
    /// Why it could not start, or the error of the component, which is also logged.
    pub fn run<E: Display + From<StartError>, R: Future<Output = Result<(), E>>>(
        self,
        (level, format): (log::Level, log::Format),
        warnings: &[Warning],
        component: impl FnOnce(Clock) -> R,
    ) -> Result<(), E> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .thread_stack_size(depth::STACK)
            .build();
        let runtime = runtime.map_err(StartError::Runtime)?;
        let clock = Clock::system();
        log::init(level, format, clock).map_err(StartError::Log)?;
        tracing::info!(version = self.version, "Starting {}", self.name);
        for warning in warnings {
            tracing::warn!("configuration: {warning}");
        }
        let result = depth::on_large_stack(|| runtime.block_on(component(clock)));
        if let Err(error) = &result {
            tracing::error!(%error, "{} failed", self.name);
        }
        result
    }
}

/// Prints a text on standard output.
pub fn print_line(text: &str) {
    // A closed pipe, as with `| head`, does not change the exit code.
    let _ = writeln!(std::io::stdout(), "{}", text.trim_end());
}

/// Prints warnings about a configuration on standard error, for commands without a log.
pub fn print_warnings(warnings: &[Warning]) {
    for warning in warnings {
        // A closed standard error does not change the exit code.
        let _ = writeln!(std::io::stderr(), "{warning}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Parser)]
    #[command(name = "component", disable_version_flag = true)]
    struct Arguments {
        #[command(flatten)]
        file: ConfigFile,
        #[command(flatten)]
        version: Version,
    }

    #[test]
    fn the_version_is_printed_briefly_and_raw() {
        let version_text = |flags: &[&str]| {
            let arguments =
                Arguments::try_parse_from([&["component"], flags].concat()).expect("they are flags");
            arguments.version.text(Program { name: "component", version: "1.2.3" })
        };
        assert_eq!(version_text(&["--config", "f", "--strict-config"]), None);
        assert_eq!(version_text(&["--version"]).as_deref(), Some("component v1.2.3"));
        let raw = version_text(&["--version=raw"]).unwrap_or_default();
        assert!(raw.starts_with("version.Info{GitVersion:\"v1.2.3\", Platform:\""), "{raw}");
    }

    #[test]
    fn failures_and_wrong_usage_exit_with_one() {
        let code = |flags: &[&str], execute: fn(Arguments) -> Result<(), &'static str>| {
            let arguments =
                [&["component"], flags].concat().into_iter().map(OsString::from).collect::<Vec<_>>();
            main(arguments, execute)
        };
        let describe = |code: ExitCode| format!("{code:?}");
        assert_eq!(describe(code(&[], |_| Ok(()))), describe(ExitCode::SUCCESS));
        assert_eq!(describe(code(&["--help"], |_| Err("not reached"))), describe(ExitCode::SUCCESS));
        assert_eq!(
            describe(code(&[], |arguments| arguments.file.config.map(|_| ()).ok_or("missing"))),
            describe(ExitCode::FAILURE)
        );
        assert_eq!(describe(code(&["--wrong"], |_| Ok(()))), describe(ExitCode::FAILURE));
    }

    #[test]
    fn an_empty_variable_replaces_nothing() {
        let mut kubeconfig = "configured".to_owned();
        override_kubeconfig(&mut kubeconfig, Some(String::new()));
        override_kubeconfig(&mut kubeconfig, None);
        assert_eq!(kubeconfig, "configured");
        override_kubeconfig(&mut kubeconfig, Some("other".to_owned()));
        assert_eq!(kubeconfig, "other");
    }
}
