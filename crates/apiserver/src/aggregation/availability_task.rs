//! Checks the availability of other API servers repeatedly, as kube-aggregator does: failing ones with a backoff, the
//! others at an interval.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};
use std::time::Duration;

use futures::future::join_all;
use tokio::sync::Notify;
use tokio::time::Instant;

use super::availability_checker::RunningFlag;
use super::{all, availability};
use crate::state::ServerState;

/// The interval between checks of an available server.
const RESYNC: Duration = Duration::from_secs(30);
/// The first delay after a failed check; it doubles with each failure, up to [`RESYNC`].
const FIRST_BACKOFF: Duration = Duration::from_millis(5);

/// When a server is checked next.
#[derive(Clone, Copy, Debug)]
struct NextCheck {
    at: Instant,
    /// The delay after the next failure.
    backoff: Duration,
}

/// Starts the task in this runtime if checks are enabled and it is not running.
pub(crate) fn ensure_running(shared: &Arc<ServerState>) {
    if let Some((notify, running)) = shared.availability_checker.start() {
        tokio::spawn(run(Arc::downgrade(shared), notify, running));
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
