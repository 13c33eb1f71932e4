//! What the programs of the folder print and log.

use std::io::Write as _;

use apiserver::flags::{FlagError, GivenFlags};
use controller::clock::Clock;
use controller::log;

/// The verbosity (`-v`) from which on debug messages are logged, as in Kubernetes' programs.
const DEBUG: u32 = 4;

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
