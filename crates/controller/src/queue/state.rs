//! The state of a queue, changed by calls that never wait.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use tokio::time::Instant;

use super::limiter::RateLimiter;
use super::measure::Measured;

/// The answer to a worker that requests an item.
pub(super) enum Next<T> {
    /// An item.
    Item(T),
    /// Nothing before that time.
    At(Instant),
    /// No item, and no known time for one.
    Empty,
    /// The queue is shut down and empty.
    End,
}

/// The state of an item in the queue.
#[derive(Debug, Default)]
struct ItemState {
    /// Since when it is waiting to be processed.
    wanted: Option<Instant>,
    /// Since when it is being processed.
    working: Option<Instant>,
}

#[derive(Debug)]
pub(super) struct State<T> {
    pub(super) limiter: RateLimiter<T>,
    pub(super) measured: Measured,
    items: BTreeMap<T, ItemState>,
    /// Waiting items that are not being processed, in order of arrival.
    order: VecDeque<T>,
    /// Delayed items, by time and then in the order in which they were added.
    later: BTreeMap<(Instant, u64), T>,
    /// The key in `later` of each delayed item.
    due: BTreeMap<T, (Instant, u64)>,
    added: u64,
    working: usize,
    shut_down: bool,
}

impl<T: Ord + Clone> State<T> {
    pub(super) fn new(limiter: RateLimiter<T>) -> Self {
        Self {
            limiter,
            measured: Measured::new(),
            items: BTreeMap::new(),
            order: VecDeque::new(),
            later: BTreeMap::new(),
            due: BTreeMap::new(),
            added: 0,
            working: 0,
            shut_down: false,
        }
    }

    /// Adds an item; returns whether there is one more item to hand out.
    pub(super) fn add(&mut self, item: T, now: Instant) -> bool {
        self.promote(now);
        self.want(item, now)
    }

    pub(super) fn add_after(&mut self, item: T, delay: Duration, now: Instant) {
        if self.shut_down {
            return;
        }
        self.promote(now);
        self.measured.retries += 1;
        if delay.is_zero() {
            self.want(item, now);
            return;
        }
        // A time beyond the clock's range is never reached.
        let Some(at) = now.checked_add(delay) else { return };
        match self.due.get(&item) {
            Some((earlier, _)) if *earlier <= at => return,
            Some(earlier) => {
                self.later.remove(earlier);
            }
            None => {}
        }
        self.added += 1;
        self.due.insert(item.clone(), (at, self.added));
        self.later.insert((at, self.added), item);
    }

    pub(super) fn add_rate_limited(&mut self, item: T, now: Instant) {
        let delay = self.limiter.when(item.clone(), now);
        self.add_after(item, delay, now);
    }

    pub(super) fn next(&mut self, now: Instant) -> Next<T> {
        self.promote(now);
        let Some(item) = self.order.pop_front() else {
            return match self.later.keys().next() {
                _ if self.shut_down => Next::End,
                Some((due, _)) => Next::At(*due),
                None => Next::Empty,
            };
        };
        if let Some(item_state) = self.items.get_mut(&item) {
            if let Some(since) = item_state.wanted.take() {
                self.measured.depth -= 1;
                self.measured.waited.observe(now.saturating_duration_since(since).as_secs_f64());
            }
            item_state.working = Some(now);
            self.working += 1;
        }
        Next::Item(item)
    }

    /// Ends the processing of an item; returns whether it is to be handed out again, and whether no item is in
    /// progress.
    pub(super) fn done(&mut self, item: &T, now: Instant) -> (bool, bool) {
        self.promote(now);
        let Some(item_state) = self.items.get_mut(item) else { return (false, self.working == 0) };
        if let Some(since) = item_state.working.take() {
            self.working -= 1;
            self.measured.worked.observe(now.saturating_duration_since(since).as_secs_f64());
            if item_state.wanted.is_some() {
                self.order.push_back(item.clone());
                return (true, self.working == 0);
            }
            self.items.remove(item);
        }
        (false, self.working == 0)
    }

    pub(super) fn shut_down(&mut self) {
        self.shut_down = true;
        self.later.clear();
        self.due.clear();
    }

    pub(super) fn is_shut_down(&self) -> bool {
        self.shut_down
    }

    pub(super) fn is_idle(&self) -> bool {
        self.working == 0
    }

    pub(super) fn len(&mut self, now: Instant) -> usize {
        self.promote(now);
        self.order.len()
    }

    /// Start of each unfinished item.
    pub(super) fn working_since(&self) -> impl Iterator<Item = Instant> {
        self.items.values().filter_map(|item_state| item_state.working)
    }

    /// Moves due items to the waiting ones. Every call begins with it, so no background task needs to watch the time.
    pub(super) fn promote(&mut self, now: Instant) {
        while let Some(entry) = self.later.first_entry() {
            let (at, _) = *entry.key();
            if at > now {
                return;
            }
            let item = entry.remove();
            self.due.remove(&item);
            self.want(item, at);
        }
    }

    fn want(&mut self, item: T, since: Instant) -> bool {
        if self.shut_down {
            return false;
        }
        let item_state = self.items.entry(item.clone()).or_default();
        if item_state.wanted.is_some() {
            return false;
        }
        item_state.wanted = Some(since);
        self.measured.depth += 1;
        self.measured.adds += 1;
        if item_state.working.is_some() {
            return false;
        }
        self.order.push_back(item);
        true
    }
}
