//! Attempts with pauses between them, within a time.

use std::future::Future;
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use super::error::StepError;

/// What an attempt has come to.
#[derive(Debug)]
pub(super) enum Attempt {
    /// It suffices.
    Done,
    /// It does not suffice yet, for this reason.
    Again(String),
    /// No further attempt can suffice.
    Failed(StepError),
}

/// The pauses between attempts.
#[derive(Debug)]
pub(super) struct Attempts {
    every: Duration,
    deadline: Option<Instant>,
}

impl Attempts {
    /// Attempts from now on; without a limit as long as it takes.
    pub(super) fn new(every: Duration, within: Option<Duration>) -> Self {
        Self { every, deadline: within.map(|within| Instant::now() + within) }
    }

    /// Pauses after an attempt that does not suffice, for this reason.
    ///
    /// # Errors
    /// If the time has passed.
    pub(super) async fn pause(&mut self, reason: String) -> Result<(), StepError> {
        let next = Instant::now() + self.every;
        if let Some(deadline) = self.deadline.filter(|deadline| *deadline <= next) {
            sleep_until(deadline).await;
            return Err(StepError::TimedOut { last: Some(reason) });
        }
        sleep_until(next).await;
        Ok(())
    }
}

/// Repeats an attempt until it suffices or fails; without a limit as long as it takes.
///
/// # Errors
/// If an attempt fails, or the time has passed.
pub(super) async fn until<F>(
    every: Duration,
    within: Option<Duration>,
    mut attempt: impl FnMut() -> F,
) -> Result<(), StepError>
where
    F: Future<Output = Attempt>,
{
    let mut attempts = Attempts::new(every, within);
    loop {
        match attempt().await {
            Attempt::Done => return Ok(()),
            Attempt::Failed(error) => return Err(error),
            Attempt::Again(reason) => attempts.pause(reason).await?,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::future::ready;

    use super::*;

    const EVERY: Duration = Duration::from_secs(5);

    #[tokio::test(start_paused = true)]
    async fn attempts_end_with_success() {
        let (begin, attempts) = (Instant::now(), Cell::new(0));
        let attempt = || {
            attempts.set(attempts.get() + 1);
            ready(if attempts.get() == 3 { Attempt::Done } else { Attempt::Again("not yet".to_owned()) })
        };
        assert!(until(EVERY, Some(Duration::from_mins(1)), attempt).await.is_ok());
        assert_eq!((attempts.get(), begin.elapsed().as_secs()), (3, 10));
    }

    #[tokio::test(start_paused = true)]
    async fn attempts_end_with_the_time() {
        let (begin, attempts) = (Instant::now(), Cell::new(0));
        let attempt = || {
            attempts.set(attempts.get() + 1);
            ready(Attempt::Again(format!("attempt {}", attempts.get())))
        };
        let error = until(EVERY, Some(Duration::from_secs(12)), attempt).await.unwrap_err();
        assert_eq!(error.text(), "retry failed with context deadline exceeded, last error: attempt 3");
        assert_eq!((attempts.get(), begin.elapsed().as_secs()), (3, 12));
    }

    #[tokio::test(start_paused = true)]
    async fn attempts_end_with_a_failure() {
        let begin = Instant::now();
        let attempt = || ready(Attempt::Failed(StepError::State("gone".to_owned())));
        assert_eq!(until(EVERY, None, attempt).await.unwrap_err().text(), "gone");
        assert_eq!(begin.elapsed(), Duration::ZERO);
    }
}
