//! Watches from another thread whether a scenario ends: in virtual time no timer fires while a task is busy, and a task that
//! never yields gets no notification.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use super::leftovers;
use crate::run::Interrupt;

/// How much real time a scenario may take beyond the waiting times of its steps.
const PATIENCE: Duration = Duration::from_mins(2);
/// How long a scenario may take to end after an interrupt.
const GRACE: Duration = Duration::from_secs(2);
/// How long a scenario may take to end after the timeout: it cleans up real clusters.
const LATE_GRACE: Duration = leftovers::PATIENCE.saturating_add(Duration::from_secs(15));
/// Pause between two checks whether the run was interrupted.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Why a scenario has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WatchdogError {
    /// The run was interrupted, and the scenario did not end in time.
    Interrupted,
    /// The timeout is over, or its clusters have failed.
    Late,
    /// Its thread panicked.
    Panicked,
}

/// Tells a scenario to abort after a timeout in real time.
pub(super) struct Watchdog {
    abort: Arc<Notify>,
    patience: Duration,
    late_grace: Duration,
}

impl Watchdog {
    /// Adds the real time that the steps wait, which is zero in virtual time, to the timeout.
    pub(super) fn new(waits: Duration) -> Self {
        let patience = PATIENCE.saturating_add(waits);
        Self { abort: Arc::default(), patience, late_grace: LATE_GRACE }
    }

    /// Notified after the timeout.
    pub(super) fn abort_signal(&self) -> Arc<Notify> {
        Arc::clone(&self.abort)
    }

    /// The timeout.
    pub(super) fn patience(&self) -> Duration {
        self.patience
    }

    /// Waits for the result of a scenario's thread; abandons a thread that does not end in time or whose clusters have failed.
    pub(super) fn watch<T>(
        &self,
        receiver: &Receiver<T>,
        interrupt: &Interrupt,
        is_failed: impl Fn() -> bool,
    ) -> Result<T, WatchdogError> {
        let end = Instant::now() + self.patience;
        loop {
            match receiver.recv_timeout(POLL_INTERVAL) {
                Ok(outcome) => return Ok(outcome),
                Err(RecvTimeoutError::Disconnected) => return Err(WatchdogError::Panicked),
                Err(RecvTimeoutError::Timeout) => {}
            }
            if interrupt.raised().is_some() {
                return receiver.recv_timeout(GRACE).map_err(|_| WatchdogError::Interrupted);
            }
            let (is_late, is_failed) = (Instant::now() >= end, is_failed());
            if is_late || is_failed {
                self.abort.notify_one();
                let grace = if is_failed { GRACE } else { self.late_grace };
                return receiver.recv_timeout(grace).map_err(|_| WatchdogError::Late);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    fn watchdog() -> Watchdog {
        Watchdog { abort: Arc::default(), patience: Duration::ZERO, late_grace: GRACE }
    }

    #[test]
    fn a_result_is_received_and_a_thread_without_one_is_reported() {
        let interrupt = Interrupt::default();
        let (sender, receiver) = channel();
        sender.send(1).unwrap();
        let here = || false;
        assert_eq!(watchdog().watch(&receiver, &interrupt, here), Ok(1));
        assert_eq!(watchdog().watch(&receiver, &interrupt, here), Err(WatchdogError::Late));
        let long = Watchdog::new(Duration::ZERO);
        assert_eq!(long.watch(&receiver, &interrupt, || true), Err(WatchdogError::Late));
        drop(sender);
        assert_eq!(watchdog().watch(&receiver, &interrupt, here), Err(WatchdogError::Panicked));
    }

    #[test]
    fn an_interrupt_does_not_wait_for_real_time() {
        let (interrupt, (sender, receiver)) = (Interrupt::default(), channel());
        interrupt.raise(2);
        let watchdog = Watchdog::new(Duration::ZERO);
        assert_eq!(watchdog.watch::<()>(&receiver, &interrupt, || false), Err(WatchdogError::Interrupted));
        sender.send(()).unwrap();
        assert_eq!(watchdog.watch(&receiver, &interrupt, || false), Ok(()));
    }
}
