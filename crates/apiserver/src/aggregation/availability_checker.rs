//! Looks at other API servers again and again, as kube-aggregator does: those that fail soon, the others now and then.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use futures::future::join_all;
use tokio::sync::Notify;
use tokio::time::Instant;

use super::{all, availability};
use crate::state::Shared;

/// After how long a server that answered is looked at again.
const RESYNC: Duration = Duration::from_secs(30);
/// After how long one is that did not; twice as long each time, until it is as long as for others.
const FIRST_BACKOFF: Duration = Duration::from_millis(5);

/// Whether there are servers to look at, and whether somebody does.
#[derive(Debug, Default)]
pub(crate) struct AvailabilityChecker {
    enabled: AtomicBool,
    running: Arc<AtomicBool>,
    notify: Arc<Notify>,
}

/// When a server is looked at next.
#[derive(Clone, Copy, Debug)]
struct NextCheck {
    at: Instant,
    /// After how long once it fails.
    backoff: Duration,
}

impl AvailabilityChecker {
    /// That of another server that begins with the same objects.
    pub(crate) fn fork(&self) -> Self {
        Self { enabled: AtomicBool::new(self.enabled.load(Ordering::Relaxed)), ..Self::default() }
    }

    /// All are to be looked at now: something was written that they hang on.
    pub(crate) fn check_all_now(&self) {
        self.enabled.store(true, Ordering::Relaxed);
        self.notify.notify_one();
    }

    /// The same, if anybody is looked at.
    pub(crate) fn recheck(&self) {
        if self.enabled.load(Ordering::Relaxed) {
            self.notify.notify_one();
        }
    }

    /// Begins, in this runtime, where there is something to look at and nobody does.
    pub(crate) fn ensure_running(&self, shared: &Arc<Shared>) {
        if self.enabled.load(Ordering::Relaxed) && !self.running.swap(true, Ordering::Relaxed) {
            let running = RunningFlag(Arc::clone(&self.running));
            tokio::spawn(run(Arc::downgrade(shared), Arc::clone(&self.notify), running));
        }
    }
}

/// Somebody looks, until it is dropped, with the runtime at the latest.
struct RunningFlag(Arc<AtomicBool>);

impl Drop for RunningFlag {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

async fn run(weak_state: Weak<Shared>, notify: Arc<Notify>, _running: RunningFlag) {
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

/// Looks at those whose time has come, at all at once: one that does not answer must not keep the others waiting.
async fn check_due(shared: &Shared, schedule: &mut BTreeMap<String, NextCheck>) {
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
