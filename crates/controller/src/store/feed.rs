//! Watches that fill stores and survive all failures.

use std::sync::Arc;
use std::time::Duration;

use futures::{Stream, StreamExt as _};
use kube::runtime::WatchStreamExt as _;
use kube::runtime::utils::Backoff;
use kube::runtime::watcher::{self, Event};
use kube::{Api, Client};
use tokio::time::{Instant, sleep_until};

use super::scoped::Scoped;
use super::{Selection, Store};
use crate::cluster::WatchedKind;
use crate::describe_error;
use crate::entropy::Entropy;

/// How often an absent kind is looked for.
const ABSENT_KIND: Duration = Duration::from_secs(5);
/// Maximum deviation of a resync from its period.
const RESYNC_SPREAD: f64 = 0.1;

/// Everything that one watch needs.
pub(crate) struct Feed<K: WatchedKind> {
    pub(crate) client: Client,
    pub(crate) resource: K::DynamicType,
    /// Empty: all namespaces.
    pub(crate) namespace: String,
    pub(crate) selection: Arc<Selection<K>>,
    pub(crate) schedule: ResyncSchedule,
    pub(crate) store: Store<K>,
}

/// When to resync.
#[derive(Clone, Debug)]
pub(crate) struct ResyncSchedule {
    /// How often subscribers receive every object again; `None`: never.
    pub(crate) resync: Option<Duration>,
    pub(crate) entropy: Entropy,
}

impl<K: WatchedKind> Feed<K> {
    /// Fills the store; never ends.
    pub(crate) async fn run(self) {
        let api: Api<Scoped<K>> = if self.namespace.is_empty() {
            Api::all_with(self.client.clone(), &self.resource)
        } else {
            Api::namespaced_with(self.client.clone(), &self.namespace, &self.resource)
        };
        let mut config = watcher::Config::default();
        config.label_selector.clone_from(&self.selection.labels);
        config.field_selector.clone_from(&self.selection.fields);
        let events = watcher::watcher(api, config);
        if self.selection.may_be_absent {
            self.follow(events.backoff(ConstantBackoff)).await;
        } else {
            self.follow(events.backoff(ExponentialBackoff::new(self.schedule.entropy.clone()))).await;
        }
    }

    async fn follow(&self, events: impl Stream<Item = watcher::Result<Event<Scoped<K>>>>) {
        let mut events = std::pin::pin!(events);
        let mut listed = Vec::new();
        let mut resync = self.schedule.next_resync();
        loop {
            tokio::select! {
                event = events.next() => match event {
                    Some(event) => self.apply(event, &mut listed),
                    None => return,
                },
                () = at(resync) => {
                    self.store.resync(&self.namespace);
                    resync = self.schedule.next_resync();
                }
            }
        }
    }

    fn apply(&self, event: watcher::Result<Event<Scoped<K>>>, listed: &mut Vec<Arc<K>>) {
        match event {
            Ok(Event::Init) => listed.clear(),
            Ok(Event::InitApply(object)) => listed.push(self.reduce(object)),
            Ok(Event::InitDone) => self.store.replace(&self.namespace, &std::mem::take(listed)),
            Ok(Event::Apply(object)) => self.store.put(self.reduce(object)),
            Ok(Event::Delete(object)) => self.store.remove(self.reduce(object)),
            Err(error) if self.selection.may_be_absent && is_absent(&error) => {
                self.store.replace(&self.namespace, &[]);
            }
            Err(error) => {
                tracing::warn!(
                    kind = self.store.kind(),
                    namespace = self.namespace,
                    error = describe_error(&error),
                    "failed to watch, trying again"
                );
            }
        }
    }

    /// Strips an object of what the store does not keep.
    fn reduce(&self, Scoped(mut object): Scoped<K>) -> Arc<K> {
        object.meta_mut().managed_fields = None;
        if let Some(reduction) = &self.selection.reduction {
            (reduction.reduce)(&mut object);
        }
        Arc::new(object)
    }
}

impl ResyncSchedule {
    fn next_resync(&self) -> Option<Instant> {
        let least = self.resync?.mul_f64(1.0 - RESYNC_SPREAD);
        let spread = 2.0 * RESYNC_SPREAD / (1.0 - RESYNC_SPREAD);
        Instant::now().checked_add(self.entropy.jitter(least, spread))
    }
}

async fn at(time: Option<Instant>) {
    match time {
        Some(time) => sleep_until(time).await,
        None => std::future::pending().await,
    }
}

/// Whether the API server does not serve the kind.
fn is_absent(error: &watcher::Error) -> bool {
    let (watcher::Error::InitialListFailed(error) | watcher::Error::WatchStartFailed(error)) = error else {
        return false;
    };
    matches!(error, kube::Error::Api(status) if status.code == 404)
}

/// Retries every five seconds, however often it failed: for a kind that may be absent.
#[derive(Debug)]
pub struct ConstantBackoff;

impl Iterator for ConstantBackoff {
    type Item = Duration;

    fn next(&mut self) -> Option<Duration> {
        Some(ABSENT_KIND)
    }
}

impl Backoff for ConstantBackoff {
    fn reset(&mut self) {}
}

/// Doubles the wait each time, from 0.8 s up to 30 s, plus up to as much at random; starts anew after two quiet
/// minutes.
///
/// The watcher calls `reset` before each attempt, even if it fails, so only the elapsed time shows that the watch
/// worked.
struct ExponentialBackoff {
    next: Duration,
    failed: Option<Instant>,
    entropy: Entropy,
}

impl ExponentialBackoff {
    const FIRST: Duration = Duration::from_millis(800);
    const MOST: Duration = Duration::from_secs(30);
    const QUIET: Duration = Duration::from_mins(2);

    fn new(entropy: Entropy) -> Self {
        Self { next: Self::FIRST, failed: None, entropy }
    }
}

impl Iterator for ExponentialBackoff {
    type Item = Duration;

    fn next(&mut self) -> Option<Duration> {
        let now = Instant::now();
        if self.failed.replace(now).is_some_and(|failed| now.duration_since(failed) > Self::QUIET) {
            self.next = Self::FIRST;
        }
        let wait = self.entropy.jitter(self.next, 1.0);
        self.next = (self.next * 2).min(Self::MOST);
        Some(wait)
    }
}

impl Backoff for ExponentialBackoff {
    fn reset(&mut self) {}
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_watch_that_keeps_failing_is_tried_ever_less_often() {
        let mut backoff = ExponentialBackoff::new(Entropy::seeded(1));
        let mut least = Vec::new();
        for _ in 0..8 {
            let wait = backoff.next().unwrap();
            least.push(backoff.next.as_millis() / 2);
            assert!(wait <= ExponentialBackoff::MOST * 2, "{wait:?}");
            advance(wait).await;
            // The next attempt has begun.
            backoff.reset();
        }
        assert_eq!(least, [800, 1600, 3200, 6400, 12_800, 15_000, 15_000, 15_000]);
        advance(ExponentialBackoff::QUIET).await;
        advance(Duration::from_millis(1)).await;
        assert!(backoff.next().unwrap() <= ExponentialBackoff::FIRST * 2);
    }
}
