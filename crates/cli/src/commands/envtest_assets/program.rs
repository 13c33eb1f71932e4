//! The programs that envtest starts, and their exit codes.

use std::ffi::OsStr;
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use controller::clock::Clock;
use controller::log;

use super::flags::{FlagError, GivenFlags};
use super::{etcd, kube_apiserver, kubectl, version};

/// A program in the folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Program {
    /// Answers health checks and stores nothing.
    Etcd,
    /// Serves the embedded API server.
    KubeApiserver,
    /// Fails, because no kubectl was found.
    Kubectl,
}

/// The verbosity (`-v`) from which on debug messages are logged, as in Kubernetes' programs.
const DEBUG: u32 = 4;

impl Program {
    /// All programs.
    pub(super) const ALL: [Self; 3] = [Self::Etcd, Self::KubeApiserver, Self::Kubectl];

    /// The file name that envtest starts.
    pub(super) fn file_name(self) -> &'static str {
        match self {
            Self::Etcd => "etcd",
            Self::KubeApiserver => "kube-apiserver",
            Self::Kubectl => "kubectl",
        }
    }

    /// The program of a command such as `/assets/etcd`.
    pub(super) fn named(command: &OsStr) -> Option<Self> {
        let name = Path::new(command).file_name()?;
        Self::ALL.into_iter().find(|program| name == program.file_name())
    }

    /// Runs the program, which was started as `command`; an error is one line on standard error.
    pub(super) fn run(self, command: &Path, arguments: Vec<String>) -> ExitCode {
        let result = match self {
            Self::Etcd => etcd::run(arguments),
            Self::KubeApiserver => {
                version::of_program(command).and_then(|version| kube_apiserver::run(arguments, version))
            }
            Self::Kubectl => Err(kubectl::MISSING.to_owned()),
        };
        match result {
            Ok(()) => ExitCode::SUCCESS,
            Err(reason) => {
                // A closed standard error is no reason for another exit code.
                let _ = writeln!(std::io::stderr(), "{}: {reason}", self.file_name());
                ExitCode::FAILURE
            }
        }
    }
}

/// Prints a text on standard output.
pub(super) fn print(text: &str) {
    // A closed pipe is no reason for another exit code.
    let _ = writeln!(std::io::stdout(), "{}", text.trim_end());
}

/// Sets up the log on standard error, and logs the flags that have no effect.
pub(super) fn start_log(given: &GivenFlags) -> Result<(), FlagError> {
    let verbosity: u32 = given.parsed("v", "a number from 0 on, such as 4")?.unwrap_or_default();
    let level = if verbosity >= DEBUG { log::Level::Debug } else { log::Level::Info };
    log::init(level, log::Format::Text, Clock::system())
        .map_err(|error| FlagError::new("v", error.to_string()))?;
    for flag in given.without_effect() {
        tracing::info!("--{flag} has no effect on the embedded API server");
    }
    for argument in given.unknown() {
        tracing::warn!("ignored {argument}: unknown to the embedded API server");
    }
    Ok(())
}
