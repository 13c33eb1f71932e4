//! Watches from outside whether a scenario ends: in virtual time no timer fires while somebody is busy, and whoever never
//! yields hears nothing.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use super::leftovers;
use crate::run::Interrupt;

/// How long a scenario may take in real time, beside what it waits by its own steps.
const PATIENCE: Duration = Duration::from_mins(2);
/// How long one may take that was told to end.
const GRACE: Duration = Duration::from_secs(2);
/// How long one may take that was told to end because it is late: it takes back what it made of real clusters.
const LATE_GRACE: Duration = leftovers::PATIENCE.saturating_add(Duration::from_secs(15));
/// How often it is looked whether the run was interrupted.
const LOOK: Duration = Duration::from_millis(50);

/// Why a scenario tells nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lost {
    /// The run was interrupted, and it does not hear of it.
    Interrupted,
    /// Real time is over, or its clusters are gone.
    Late,
    /// Its thread ended without a word.
    Silent,
}

/// Barks when real time is over.
pub(super) struct Watchdog {
    bark: Arc<Notify>,
    patience: Duration,
    late_grace: Duration,
}

impl Watchdog {
    /// Real time that the steps may wait, which is none in virtual time, comes on top.
    pub(super) fn new(waits: Duration) -> Self {
        let patience = PATIENCE.saturating_add(waits);
        Self { bark: Arc::default(), patience, late_grace: LATE_GRACE }
    }

    /// What a scenario that yields hears when real time is over.
    pub(super) fn bark(&self) -> Arc<Notify> {
        Arc::clone(&self.bark)
    }

    /// How long is waited at most.
    pub(super) fn patience(&self) -> Duration {
        self.patience
    }

    /// What the thread of a scenario tells in the end; one that does not end is left behind, and so is one whose clusters
    /// are gone.
    pub(super) fn watch<T>(
        &self,
        told: &Receiver<T>,
        interrupt: &Interrupt,
        is_gone: impl Fn() -> bool,
    ) -> Result<T, Lost> {
        let end = Instant::now() + self.patience;
        loop {
            match told.recv_timeout(LOOK) {
                Ok(outcome) => return Ok(outcome),
                Err(RecvTimeoutError::Disconnected) => return Err(Lost::Silent),
                Err(RecvTimeoutError::Timeout) => {}
            }
            if interrupt.raised().is_some() {
                return told.recv_timeout(GRACE).map_err(|_| Lost::Interrupted);
            }
            let (is_late, is_gone) = (Instant::now() >= end, is_gone());
            if is_late || is_gone {
                self.bark.notify_one();
                let grace = if is_gone { GRACE } else { self.late_grace };
                return told.recv_timeout(grace).map_err(|_| Lost::Late);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    fn watchdog() -> Watchdog {
        Watchdog { bark: Arc::default(), patience: Duration::ZERO, late_grace: GRACE }
    }

    #[test]
    fn who_ends_is_heard_and_who_says_nothing_is_lost() {
        let interrupt = Interrupt::default();
        let (tell, told) = channel();
        tell.send(1).unwrap();
        let here = || false;
        assert_eq!(watchdog().watch(&told, &interrupt, here), Ok(1));
        assert_eq!(watchdog().watch(&told, &interrupt, here), Err(Lost::Late));
        let long = Watchdog::new(Duration::ZERO);
        assert_eq!(long.watch(&told, &interrupt, || true), Err(Lost::Late));
        drop(tell);
        assert_eq!(watchdog().watch(&told, &interrupt, here), Err(Lost::Silent));
    }

    #[test]
    fn an_interrupt_does_not_wait_for_real_time() {
        let (interrupt, (tell, told)) = (Interrupt::default(), channel());
        interrupt.raise(2);
        let watchdog = Watchdog::new(Duration::ZERO);
        assert_eq!(watchdog.watch::<()>(&told, &interrupt, || false), Err(Lost::Interrupted));
        tell.send(()).unwrap();
        assert_eq!(watchdog.watch(&told, &interrupt, || false), Ok(()));
    }
}
