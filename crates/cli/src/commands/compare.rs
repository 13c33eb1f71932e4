//! `compare`: compares two reports in the cases that both have.

use std::path::Path;

use conformance::compare::compare as compare_reports;
use conformance::render::plural;
use conformance::report::{self, Report};

use crate::arguments::{CompareArguments, Format};
use crate::ending::Ending;
use crate::terminal::{Failure, Terminal};

/// Prints the differences; returns 5 if a case differs, 4 if the reports have no case in common.
pub(crate) fn compare(arguments: &CompareArguments, terminal: &Terminal) -> Result<Ending, Failure> {
    let comparison = compare_reports(&read(&arguments.first)?, &read(&arguments.second)?);
    let json = arguments.output == Format::Json;
    terminal.print(&if json { comparison.to_json() } else { comparison.to_text() });
    Ok(match (comparison.is_same(), comparison.compared) {
        (false, _) => Ending::new(5, "the reports differ"),
        (true, 0) => Ending::new(4, "the reports have no case in common"),
        (true, cases) => {
            Ending::new(0, format!("{} that both reports have are the same", plural(cases, "case")))
        }
    }
    .beside(arguments.output))
}

fn read(path: &Path) -> Result<Report, Failure> {
    report::read(path).map_err(|error| Failure::usage(error.to_string()))
}
