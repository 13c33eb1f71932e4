//! Work queue: it holds an item once, one worker at a time processes it, and a failed item is added again later.
//!
//! An item that is added while a worker processes it is handed out again when that worker is done, and not before.

mod limiter;
mod measure;
mod state;

use std::pin::pin;
use std::time::Duration;

use formats::exposition::Family;
use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

pub use self::limiter::RateLimiter;
use self::state::{Next, State};

/// A work queue. Shared by reference; safe to use from any task.
#[derive(Debug)]
pub struct Queue<T> {
    name: String,
    state: Mutex<State<T>>,
    /// Wakes a waiting worker: the queue has changed.
    changed: Notify,
    /// The last item in progress is done.
    idle: Notify,
}

/// Guard of a waiting worker: it may be the only one that knows of a due time, so if it is dropped, another one must
/// look.
struct WaitGuard<'a>(Option<&'a Notify>);

impl WaitGuard<'_> {
    /// Disarms the guard: this worker looks again itself.
    fn disarm(mut self) {
        self.0 = None;
    }
}

impl Drop for WaitGuard<'_> {
    fn drop(&mut self) {
        if let Some(changed) = self.0 {
            changed.notify_one();
        }
    }
}

impl<T: Ord + Clone> Queue<T> {
    /// An empty queue; `name` is the label of its measurements.
    pub fn new(name: impl Into<String>, limiter: RateLimiter<T>) -> Self {
        let state = Mutex::new(State::new(limiter));
        Self { name: name.into(), state, changed: Notify::new(), idle: Notify::new() }
    }

    /// Adds an item unless it is waiting already.
    pub fn add(&self, item: T) {
        if self.state.lock().add(item, Instant::now()) {
            self.changed.notify_one();
        }
    }

    /// Adds an item after `delay`; of several delays the earliest counts.
    pub fn add_after(&self, item: T, delay: Duration) {
        self.state.lock().add_after(item, delay, Instant::now());
        self.changed.notify_one();
    }

    /// Adds a failed item when the rate limiter allows it.
    pub fn add_rate_limited(&self, item: T) {
        self.state.lock().add_rate_limited(item, Instant::now());
        self.changed.notify_one();
    }

    /// Resets the rate limiter's failure count of an item.
    pub fn forget(&self, item: &T) {
        self.state.lock().limiter.forget(item);
    }

    /// How often an item was added with [`Queue::add_rate_limited`] since [`Queue::forget`].
    pub fn requeues(&self, item: &T) -> u32 {
        self.state.lock().limiter.failures(item)
    }

    /// Waits for the next item; call [`Queue::done`] with it afterwards. `None` when the queue is shut down and
    /// empty.
    ///
    /// Dropping the future before it is ready loses nothing.
    pub async fn get(&self) -> Option<T> {
        loop {
            let mut changed = pin!(self.changed.notified());
            changed.as_mut().enable();
            let next = self.state.lock().next(Instant::now());
            match next {
                Next::Item(item) => return Some(item),
                Next::End => return None,
                Next::At(due) => {
                    let guard = WaitGuard(Some(&self.changed));
                    tokio::select! {
                        () = changed => {}
                        () = sleep_until(due) => {}
                    }
                    guard.disarm();
                }
                Next::Empty => changed.await,
            }
        }
    }

    /// Ends the processing of an item, whether it succeeded or failed.
    pub fn done(&self, item: &T) {
        let (again, idle) = self.state.lock().done(item, Instant::now());
        if again {
            self.changed.notify_one();
        }
        if idle {
            self.idle.notify_waiters();
        }
    }

    /// Accepts no further items; those in the queue are still handed out.
    pub fn shut_down(&self) {
        self.state.lock().shut_down();
        self.changed.notify_waiters();
    }

    /// Shuts down, and waits until no item is in progress.
    pub async fn shut_down_with_drain(&self) {
        self.shut_down();
        loop {
            let mut idle = pin!(self.idle.notified());
            idle.as_mut().enable();
            if self.state.lock().is_idle() {
                return;
            }
            idle.await;
        }
    }

    /// Whether [`Queue::shut_down`] was called.
    pub fn is_shut_down(&self) -> bool {
        self.state.lock().is_shut_down()
    }

    /// How many items can be handed out now.
    pub fn len(&self) -> usize {
        self.state.lock().len(Instant::now())
    }

    /// Whether no item can be handed out now.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// `workqueue_*`, labelled with the queue's name.
    pub fn metrics(&self) -> Vec<Family> {
        let mut state = self.state.lock();
        let now = Instant::now();
        state.promote(now);
        measure::families(&self.name, &state.measured, state.working_since(), now)
    }
}

#[cfg(test)]
mod tests;
