//! Why a Garden is not reconciled. Texts that a user meets in its status are the original's.

use controller::describe_error;
use secrets::{GenerateError, SecretsManagerError};

use super::component_table::UnwrittenComponent;
use crate::components::RenderError;

/// Why a step of a flow, or what precedes the flow, has failed.
#[derive(Debug, thiserror::Error)]
pub enum StepError {
    /// The API server refuses a request, or cannot be reached.
    #[error("{0}")]
    Request(#[from] kube::Error),
    /// A component has no objects.
    #[error("{0}")]
    Render(#[from] RenderError),
    /// Existing Secrets of the secrets manager are malformed.
    #[error("{0}")]
    Secrets(#[from] SecretsManagerError),
    /// The secrets manager has no Secret.
    #[error("{0}")]
    Generate(#[source] Box<GenerateError>),
    /// Something is not as it must be, and may be so later.
    #[error("{0}")]
    State(String),
    /// Attempts went on for too long.
    #[error("{}", deadline_text(last.as_deref()))]
    TimedOut {
        /// Why the last attempt did not suffice.
        last: Option<String>,
    },
    /// Some of several things that were done side by side.
    #[error("{0}")]
    Several(ErrorList),
    /// The cause, and what was being done.
    #[error("{what}")]
    Within {
        /// What was being done.
        what: String,
        /// The cause.
        source: Box<Self>,
    },
    /// Nothing renders a component.
    #[error("nothing renders the component {0:?}: add it to the table of components")]
    Unwritten(UnwrittenComponent),
}

/// Errors in the notation of Go's go-multierror.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", list_text(.0))]
pub struct ErrorList(pub Vec<String>);

/// Why a flow has not ended well.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum FlowError {
    /// Steps failed, in the order in which they did.
    #[error("{0}")]
    Failed(ErrorList),
    /// The operator stops.
    #[error("the operator stops before the flow has ended")]
    Stopped,
}

/// Why a Garden is not reconciled.
#[derive(Debug, thiserror::Error)]
pub enum GardenError {
    /// What precedes the flow failed.
    #[error("{0}")]
    Step(#[from] StepError),
    /// The flow failed.
    #[error("{0}")]
    Flow(#[from] FlowError),
    /// The error could not be written to the status.
    #[error("failed updating last operation to state 'Error' (due to {cause})")]
    Status {
        /// The error.
        cause: String,
        /// Why it could not be written.
        source: kube::Error,
    },
}

impl StepError {
    /// The same as the cause of something else that failed.
    pub(super) fn within(self, what: impl Into<String>) -> Self {
        Self::Within { what: what.into(), source: Box::new(self) }
    }

    /// The error with its causes.
    pub(super) fn text(&self) -> String {
        describe_error(self)
    }
}

impl From<GenerateError> for StepError {
    fn from(error: GenerateError) -> Self {
        Self::Generate(Box::new(error))
    }
}

impl From<kube::Error> for GardenError {
    fn from(error: kube::Error) -> Self {
        Self::Step(StepError::Request(error))
    }
}

impl From<RenderError> for GardenError {
    fn from(error: RenderError) -> Self {
        Self::Step(StepError::Render(error))
    }
}

fn deadline_text(last: Option<&str>) -> String {
    let text = "retry failed with context deadline exceeded";
    last.map_or_else(|| text.to_owned(), |last| format!("{text}, last error: {last}"))
}

fn list_text(errors: &[String]) -> String {
    let noun = if errors.len() == 1 { "error" } else { "errors" };
    let points: Vec<String> = errors.iter().map(|error| format!("\n\t* {error}")).collect();
    format!("{} {noun} occurred:{}\n\n", errors.len(), points.concat())
}

#[cfg(test)]
mod tests {
    use kube::core::Status;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(&["a"], "1 error occurred:\n\t* a\n\n")]
    #[case(&["a", "b"], "2 errors occurred:\n\t* a\n\t* b\n\n")]
    fn lists_are_written_as_go_writes_them(#[case] errors: &[&str], #[case] want: &str) {
        let errors = errors.iter().map(|error| (*error).to_owned()).collect();
        assert_eq!(ErrorList(errors).to_string(), want);
    }

    #[test]
    fn a_deadline_names_the_last_error() {
        assert_eq!(StepError::TimedOut { last: None }.text(), "retry failed with context deadline exceeded");
        let error = StepError::TimedOut { last: Some("is not ready yet".to_owned()) };
        assert_eq!(error.text(), "retry failed with context deadline exceeded, last error: is not ready yet");
    }

    #[test]
    fn an_answer_of_the_api_server_is_quoted() {
        let refused = || kube::Error::Api(Box::new(Status::failure("etcds \"a\" is forbidden", "Forbidden")));
        assert_eq!(StepError::from(refused()).text(), "etcds \"a\" is forbidden");
        let error = StepError::from(refused()).within("could not create or update managed resource");
        assert_eq!(error.text(), "could not create or update managed resource: etcds \"a\" is forbidden");
    }
}
