//! How a command ends: its exit code and the cause, which the last line of the output says.

use conformance::report::{ExitReason, Report};

use crate::arguments::Format;

/// The cause of exit code 0 of a command that checked nothing.
const DONE: &str = "done";

/// The end of a command.
#[derive(Debug)]
pub(crate) struct Ending {
    /// The exit code.
    pub(crate) code: u8,
    /// The cause in words; empty if the last line is printed already.
    pub(crate) cause: String,
    /// Whether a program reads standard output, so that the cause goes to standard error.
    pub(crate) is_for_programs: bool,
}

impl Ending {
    /// A command that printed or wrote what the user requested.
    pub(crate) fn done() -> Self {
        Self { code: 0, cause: DONE.to_owned(), is_for_programs: true }
    }

    /// A command that ends with this code for this cause.
    pub(crate) fn new(code: u8, cause: impl Into<String>) -> Self {
        Self { code, cause: cause.into(), is_for_programs: false }
    }

    /// The end of a command that printed a report.
    pub(crate) fn of_report(report: &Report, output: Format) -> Self {
        let ExitReason { code, cause } = report.exit_reason();
        Self::new(code, cause).beside(output)
    }

    /// The same for a command whose standard output has this format.
    pub(crate) fn beside(self, output: Format) -> Self {
        Self { is_for_programs: output != Format::Text, ..self }
    }

    /// The end of a command that failed, after its message.
    pub(crate) fn of_failure(code: u8) -> Self {
        let cause = match code {
            2 => "the command line or a file is wrong, see above",
            3 => "the environment failed, which says nothing about the target",
            4 => "nothing was found to work on, see above",
            130 => "interrupted by SIGINT",
            143 => "interrupted by SIGTERM",
            _ => "see above",
        };
        Self { code, cause: cause.to_owned(), is_for_programs: true }
    }

    /// Whether the command only printed or wrote what the user requested.
    pub(crate) fn is_done(&self) -> bool {
        self.cause == DONE
    }

    /// The last line; `None` if there is nothing to say. A cause is one line: further lines were printed before.
    pub(crate) fn line(&self) -> Option<String> {
        let cause = self.cause.lines().next().unwrap_or_default();
        (!cause.is_empty()).then(|| format!("exit {}: {cause}", self.code))
    }
}
