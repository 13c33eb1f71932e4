//! `report merge`: the shards of a run put together.

use conformance::{report, shard};

use crate::arguments::{MergeArguments, ReportCommand};
use crate::session;
use crate::terminal::{Failure, Terminal};

/// Does what was asked for with reports.
pub(crate) fn execute(command: &ReportCommand, terminal: &Terminal) -> Result<u8, Failure> {
    let ReportCommand::Merge(arguments) = command;
    merge(arguments, terminal)
}

fn merge(arguments: &MergeArguments, terminal: &Terminal) -> Result<u8, Failure> {
    let read = arguments.shards.iter().map(|path| {
        let read = report::read(path).map_err(|error| Failure::usage(error.to_string()))?;
        Ok((path.display().to_string(), read))
    });
    let whole = shard::merge(&read.collect::<Result<Vec<_>, Failure>>()?);
    let whole = whole.map_err(|error| Failure { code: error.exit_code(), text: error.to_string() })?;
    session::write(&whole, &arguments.report)?;
    session::show(&whole, &arguments.report, arguments.output, terminal);
    Ok(whole.exit_code())
}
