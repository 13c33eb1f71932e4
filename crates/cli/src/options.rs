//! Converts flags to the options of the harness.

pub(crate) mod repeat_command;

use std::path::Path;
use std::time::Duration;

use conformance::run::{Options, Substrate};
use conformance::select::Selection;
use contract::document::waivers::Waiver;
use contract::document::{SourceFile, waivers};
use contract::index::Outline;
use formats::duration::GoDuration;

use crate::arguments::{DEFAULT_SETTLE, DEFAULT_TIME_BUDGET, Execution};
use crate::options::repeat_command::RepeatCommand;
use crate::terminal::Failure;

/// Options of a run that begins now; `command` is the command line that repeats it.
pub(crate) fn options(
    execution: &Execution,
    selection: &Selection,
    substrate: Substrate,
    command: String,
) -> Result<Options, Failure> {
    let now = jiff::Timestamp::now();
    let (settle, time_budget) = durations(execution)?;
    Ok(Options {
        substrate,
        seed: execution.seed.unwrap_or_else(|| now.as_millisecond().unsigned_abs() % 100_000),
        parallel: execution.parallel,
        repeat: execution.repeat,
        fail_fast: execution.fail_fast,
        settle,
        time_budget,
        strict: execution.strict,
        waivers: waivers(execution)?,
        started_at: now.round(jiff::Unit::Second).unwrap_or(now).to_string(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        command,
        expression: selection.expression(),
    })
}

/// The command line that repeats a run, completed by the flags of [`Execution`] that change results.
pub(crate) fn repeat_command_line(command: RepeatCommand, execution: &Execution) -> String {
    command
        .unless_default("--gardener", execution.gardener.as_deref().unwrap_or_default(), "")
        .flag("--strict", execution.strict)
        .unless_default("--settle", &execution.settle, DEFAULT_SETTLE)
        .unless_default("--time-budget", &execution.time_budget, DEFAULT_TIME_BUDGET)
        .path("--waivers", execution.waivers.as_deref())
        .into_string()
}

/// Refuses invalid durations, and waivers of clauses that no contract has, before anything is started.
pub(crate) fn check(execution: &Execution, contracts: &[Outline]) -> Result<(), Failure> {
    durations(execution)?;
    let waivers = waivers(execution)?;
    match conformance::waivers::unknown(&waivers, contracts).as_slice() {
        [] => Ok(()),
        unknown => Err(Failure::usage(format!(
            "the waivers name clauses that no contract has: {}; `gardener-conformance list` prints the clauses",
            unknown.join(", ")
        ))),
    }
}

fn waivers(execution: &Execution) -> Result<Vec<Waiver>, Failure> {
    execution.waivers.as_deref().map_or_else(|| Ok(Vec::new()), read_waivers)
}

/// Reads a waiver file.
pub(crate) fn read_waivers(file: &Path) -> Result<Vec<Waiver>, Failure> {
    let text = std::fs::read_to_string(file)
        .map_err(|error| Failure::usage(format!("failed to read waivers {}: {error}", file.display())))?;
    waivers::read(&SourceFile::new(file.display().to_string(), text)).map_err(Failure::diagnostic)
}

/// The values of `--settle` and `--time-budget`.
fn durations(execution: &Execution) -> Result<(Duration, Duration), Failure> {
    let settle = duration("--settle", &execution.settle)?;
    Ok((settle, duration("--time-budget", &execution.time_budget)?))
}

/// Parses the value of a flag as a Go duration.
pub(crate) fn duration(flag: &str, text: &str) -> Result<Duration, Failure> {
    let parsed =
        GoDuration::parse(text).map_err(|error| Failure::usage(format!("{flag} {text}: {error}")))?;
    parsed.to_std().ok_or_else(|| Failure::usage(format!("{flag} {text}: a duration must not be negative")))
}
