//! From what was typed to what the harness takes.

pub(crate) mod again;

use std::path::Path;
use std::time::Duration;

use conformance::run::{Ground, Options};
use conformance::select::Selection;
use contract::document::waivers::Waiver;
use contract::document::{SourceFile, waivers};
use contract::index::Outline;
use formats::duration::GoDuration;

use crate::arguments::{Execution, SETTLE, TIME_BUDGET};
use crate::options::again::Again;
use crate::terminal::Failure;

/// Options of a run that begins now; `command` repeats it.
pub(crate) fn options(
    execution: &Execution,
    selection: &Selection,
    ground: Ground,
    command: String,
) -> Result<Options, Failure> {
    let now = jiff::Timestamp::now();
    let (settle, time_budget) = times(execution)?;
    Ok(Options {
        ground,
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

/// The command that repeats a case as it was asked: with the times that it had and the waivers.
pub(crate) fn repeated(again: Again, execution: &Execution) -> String {
    again
        .unless("--gardener", execution.gardener.as_deref().unwrap_or_default(), "")
        .flag("--strict", execution.strict)
        .unless("--settle", &execution.settle, SETTLE)
        .unless("--time-budget", &execution.time_budget, TIME_BUDGET)
        .path("--waivers", execution.waivers.as_deref())
        .line()
}

/// Refuses, before anything is started, times that are none, and waivers of clauses that are in no contract: nobody would
/// see that they waive nothing.
pub(crate) fn check(execution: &Execution, contracts: &[Outline]) -> Result<(), Failure> {
    times(execution)?;
    let waivers = waivers(execution)?;
    match conformance::waivers::unknown(&waivers, contracts).as_slice() {
        [] => Ok(()),
        unknown => Err(Failure::usage(format!("waived is what no contract says: {}", unknown.join(", ")))),
    }
}

fn waivers(execution: &Execution) -> Result<Vec<Waiver>, Failure> {
    execution.waivers.as_deref().map_or_else(|| Ok(Vec::new()), read_waivers)
}

/// The waivers of a file.
pub(crate) fn read_waivers(file: &Path) -> Result<Vec<Waiver>, Failure> {
    let text = std::fs::read_to_string(file)
        .map_err(|error| Failure::usage(format!("failed to read waivers {}: {error}", file.display())))?;
    waivers::read(&SourceFile::new(file.display().to_string(), text)).map_err(Failure::diagnostic)
}

/// How long a failing case is asked again, and how long a scenario may wait.
fn times(execution: &Execution) -> Result<(Duration, Duration), Failure> {
    let settle = duration("--settle", &execution.settle)?;
    Ok((settle, duration("--time-budget", &execution.time_budget)?))
}

/// A time that a flag tells, as Go writes it.
pub(crate) fn duration(flag: &str, text: &str) -> Result<Duration, Failure> {
    let parsed =
        GoDuration::parse(text).map_err(|error| Failure::usage(format!("{flag} {text}: {error}")))?;
    parsed.to_std().ok_or_else(|| Failure::usage(format!("{flag} {text}: a time to wait is not negative")))
}
