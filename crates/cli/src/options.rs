//! From what was typed to what the harness takes.

use std::time::Duration;

use conformance::run::{Ground, Options};
use conformance::select::Selection;
use contract::document::{SourceFile, waivers};
use formats::duration::GoDuration;

use crate::arguments::Execution;
use crate::terminal::Failure;

/// Options of a run that begins now; `command` repeats it.
pub(crate) fn options(
    execution: &Execution,
    selection: &Selection,
    ground: Ground,
    command: String,
) -> Result<Options, Failure> {
    let waivers = match &execution.waivers {
        None => Vec::new(),
        Some(file) => {
            let text = std::fs::read_to_string(file).map_err(|error| {
                Failure::usage(format!("failed to read waivers {}: {error}", file.display()))
            })?;
            waivers::read(&SourceFile::new(file.display().to_string(), text)).map_err(Failure::diagnostic)?
        }
    };
    let now = jiff::Timestamp::now();
    Ok(Options {
        ground,
        seed: execution.seed.unwrap_or_else(|| now.as_millisecond().unsigned_abs() % 100_000),
        parallel: execution.parallel,
        repeat: execution.repeat,
        fail_fast: execution.fail_fast,
        settle: duration("--settle", &execution.settle)?,
        time_budget: duration("--time-budget", &execution.time_budget)?,
        waivers,
        started_at: now.round(jiff::Unit::Second).unwrap_or(now).to_string(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        command,
        expression: selection.expression(),
    })
}

fn duration(flag: &str, text: &str) -> Result<Duration, Failure> {
    let parsed =
        GoDuration::parse(text).map_err(|error| Failure::usage(format!("{flag} {text}: {error}")))?;
    Ok(parsed.to_std().unwrap_or(Duration::ZERO))
}
