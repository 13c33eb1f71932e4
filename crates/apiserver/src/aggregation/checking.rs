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
const SOONEST: Duration = Duration::from_millis(5);

/// Whether there are servers to look at, and whether somebody does.
#[derive(Debug, Default)]
pub(crate) struct Checking {
    wanted: AtomicBool,
    started: Arc<AtomicBool>,
    news: Arc<Notify>,
}

/// When a server is looked at next.
#[derive(Clone, Copy, Debug)]
struct Due {
    at: Instant,
    /// After how long once it fails.
    patience: Duration,
}

impl Checking {
    /// That of another server that begins with the same objects.
    pub(crate) fn anew(&self) -> Self {
        Self { wanted: AtomicBool::new(self.wanted.load(Ordering::Relaxed)), ..Self::default() }
    }

    /// All are to be looked at now: something was written that they hang on.
    pub(crate) fn want(&self) {
        self.wanted.store(true, Ordering::Relaxed);
        self.news.notify_one();
    }

    /// The same, if anybody is looked at.
    pub(crate) fn hint(&self) {
        if self.wanted.load(Ordering::Relaxed) {
            self.news.notify_one();
        }
    }

    /// Begins, in this runtime, where there is something to look at and nobody does.
    pub(crate) fn ensure(&self, shared: &Arc<Shared>) {
        if self.wanted.load(Ordering::Relaxed) && !self.started.swap(true, Ordering::Relaxed) {
            let started = Started(Arc::clone(&self.started));
            tokio::spawn(run(Arc::downgrade(shared), Arc::clone(&self.news), started));
        }
    }
}

/// Somebody looks, until it is dropped, with the runtime at the latest.
struct Started(Arc<AtomicBool>);

impl Drop for Started {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

async fn run(world: Weak<Shared>, news: Arc<Notify>, _started: Started) {
    let mut dues: BTreeMap<String, Due> = BTreeMap::new();
    loop {
        let Some(shared) = world.upgrade() else { return };
        look(&shared, &mut dues).await;
        drop(shared);
        let next = dues.values().map(|due| due.at).min();
        let next = next.unwrap_or_else(|| Instant::now() + RESYNC);
        tokio::select! {
            () = tokio::time::sleep_until(next) => {}
            () = news.notified() => dues.clear(),
        }
    }
}

/// Looks at those whose time has come, at all at once: one that does not answer must not keep the others waiting.
async fn look(shared: &Shared, dues: &mut BTreeMap<String, Due>) {
    let names: Vec<String> = all(shared).into_iter().map(|backend| backend.name).collect();
    dues.retain(|name, _| names.contains(name));
    let now = Instant::now();
    let due = |name: String| {
        let due = dues.get(&name).copied().unwrap_or(Due { at: now, patience: SOONEST });
        (due.at <= now).then_some((name, due.patience))
    };
    let looks = names.into_iter().filter_map(due).map(async |(name, patience)| {
        let next = if availability::look(shared, &name).await {
            Due { at: Instant::now() + RESYNC, patience: SOONEST }
        } else {
            Due { at: Instant::now() + patience, patience: (patience * 2).min(RESYNC) }
        };
        (name, next)
    });
    let looked = join_all(looks.collect::<Vec<_>>()).await;
    dues.extend(looked);
}
