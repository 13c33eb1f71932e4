//! `report merge`: merges the reports of shards.

use conformance::{report, shard};

use crate::arguments::{MergeArguments, ReportCommand};
use crate::ending::Ending;
use crate::session;
use crate::terminal::{Failure, Terminal};

/// Executes a command about reports.
pub(crate) fn execute(command: &ReportCommand, terminal: &Terminal) -> Result<Ending, Failure> {
    let ReportCommand::Merge(arguments) = command;
    merge(arguments, terminal)
}

fn merge(arguments: &MergeArguments, terminal: &Terminal) -> Result<Ending, Failure> {
    let read = arguments.shards.iter().map(|path| {
        let read = report::read(path).map_err(|error| Failure::usage(error.to_string()))?;
        Ok((path.display().to_string(), read))
    });
    let merged = shard::merge(&read.collect::<Result<Vec<_>, Failure>>()?);
    let merged = merged.map_err(|error| Failure { code: error.exit_code(), text: error.to_string() })?;
    terminal.lose_if_failed(session::write_report(&merged, &arguments.report));
    session::print_report(&merged, &arguments.report, arguments.output, terminal);
    Ok(Ending::of_report(&merged, arguments.output))
}
