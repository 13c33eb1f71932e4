//! Requests that are sent side by side, and all attempted.

use std::error::Error;
use std::fmt;

use futures::future::join_all;

use crate::reconcile::describe_error;

/// The requests that failed, at least one.
#[derive(Debug)]
pub struct Failures(Vec<String>);

impl fmt::Display for Failures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} error(s) occurred: {}", self.0.len(), self.0.join("; "))
    }
}

impl Error for Failures {}

/// Runs all futures at once, to their ends.
///
/// # Errors
/// Those of all futures that failed.
pub async fn all<E: Error + 'static>(
    futures: impl IntoIterator<Item = impl Future<Output = Result<(), E>>>,
) -> Result<(), Failures> {
    let ended = join_all(futures).await;
    let failures: Vec<_> = ended.iter().filter_map(|ended| ended.as_ref().err()).collect();
    if failures.is_empty() {
        return Ok(());
    }
    Err(Failures(failures.into_iter().map(|error| describe_error(error)).collect()))
}
