//! Work in several threads, each of which takes the next item.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Runs work for each item, with limited parallelism; returns results in the order of the items.
pub(crate) fn in_parallel<T: Sync, R: Send>(
    items: &[T],
    parallel: usize,
    work: impl Fn(usize, &T) -> R + Sync,
) -> Vec<R> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..parallel.min(items.len()) {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(at) else { break };
                    let result = work(at, item);
                    done.lock().unwrap_or_else(PoisonError::into_inner).push((at, result));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}
