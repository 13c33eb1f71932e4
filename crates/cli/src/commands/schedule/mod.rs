//! `schedule`: which Seed Shoots get, by the decision of our scheduler.

mod assignment;
mod explain;
mod landscape;
mod page;
mod seed_row;
mod simulate;

use crate::arguments::ScheduleCommand;
use crate::ending::Ending;
use crate::terminal::{Failure, Terminal};

/// Executes a `schedule` command.
pub(crate) fn execute(command: &ScheduleCommand, terminal: &Terminal) -> Result<Ending, Failure> {
    match command {
        ScheduleCommand::Explain(arguments) => explain::explain(arguments, terminal),
        ScheduleCommand::Simulate(arguments) => simulate::simulate(arguments, terminal),
    }
}

/// `1 shoot gets`, `2 shoots get`.
fn get(shoots: usize) -> String {
    if shoots == 1 { "1 shoot gets".to_owned() } else { format!("{shoots} shoots get") }
}
