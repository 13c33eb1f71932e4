//! Checks the availability of other API servers repeatedly, as kube-aggregator does: failing ones with a backoff, the
//! others at an interval.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use futures::future::join_all;
use tokio::sync::Notify;
use tokio::time::Instant;

use super::{all, availability};
use crate::state::ServerState;

/// The interval between checks of an available server.
const RESYNC: Duration = Duration::from_secs(30);
/// The first delay after a failed check; it doubles with each failure, up to [`RESYNC`].
const FIRST_BACKOFF: Duration = Duration::from_millis(5);

/// The background task that checks servers, and whether it is needed.
#[derive(Debug, Default)]
pub(crate) struct AvailabilityChecker {
    enabled: AtomicBool,
    running: Arc<AtomicBool>,
    notify: Arc<Notify>,
}

/// When a server is checked next.
#[derive(Clone, Copy, Debug)]
struct NextCheck {
    at: Instant,
    /// The delay after the next failure.
    backoff: Duration,
}

impl AvailabilityChecker {
    /// The checker of a forked server, which has the same APIServices.
    pub(crate) fn fork(&self) -> Self {
        Self { enabled: AtomicBool::new(self.enabled.load(Ordering::Relaxed)), ..Self::default() }
    }

    /// Enables the checks, and checks all servers now: an object changed that they depend on.
    pub(crate) fn check_all_now(&self) {
        self.enabled.store(true, Ordering::Relaxed);
        self.notify.notify_one();
    }

    /// Checks all servers now, if checks are enabled.
    pub(crate) fn recheck(&self) {
        if self.enabled.load(Ordering::Relaxed) {
            self.notify.notify_one();
        }
    }

    /// Starts the task in this runtime if checks are enabled and it is not running.
    pub(crate) fn ensure_running(&self, shared: &Arc<ServerState>) {
        if self.enabled.load(Ordering::Relaxed) && !self.running.swap(true, Ordering::Relaxed) {
            let running = RunningFlag(Arc::clone(&self.running));
            tokio::spawn(run(Arc::downgrade(shared), Arc::clone(&self.notify), running));
        }
    }
}

/// Marks the task as running until it is dropped, at the latest with the runtime.
struct RunningFlag(Arc<AtomicBool>);

impl Drop for RunningFlag {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

async fn run(weak_state: Weak<ServerState>, notify: Arc<Notify>, _running: RunningFlag) {
    let mut schedule: BTreeMap<String, NextCheck> = BTreeMap::new();
    loop {
        let Some(shared) = weak_state.upgrade() else { return };
        check_due(&shared, &mut schedule).await;
        drop(shared);
        let next = schedule.values().map(|due| due.at).min();
        let next = next.unwrap_or_else(|| Instant::now() + RESYNC);
        tokio::select! {
            () = tokio::time::sleep_until(next) => {}
            () = notify.notified() => schedule.clear(),
        }
    }
}

/// Checks the servers that are due, concurrently: one that does not respond must not delay the others.
async fn check_due(shared: &ServerState, schedule: &mut BTreeMap<String, NextCheck>) {
    let names: Vec<String> = all(shared).into_iter().map(|backend| backend.name).collect();
    schedule.retain(|name, _| names.contains(name));
    let now = Instant::now();
    let due = |name: String| {
        let due = schedule.get(&name).copied().unwrap_or(NextCheck { at: now, backoff: FIRST_BACKOFF });
        (due.at <= now).then_some((name, due.backoff))
    };
    let checks = names.into_iter().filter_map(due).map(async |(name, backoff)| {
        let next = if availability::check_availability(shared, &name).await {
            NextCheck { at: Instant::now() + RESYNC, backoff: FIRST_BACKOFF }
        } else {
            NextCheck { at: Instant::now() + backoff, backoff: (backoff * 2).min(RESYNC) }
        };
        (name, next)
    });
    let checked = join_all(checks.collect::<Vec<_>>()).await;
    schedule.extend(checked);
}
