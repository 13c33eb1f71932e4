//! Processes many items with bounded concurrency.

use std::future::Future;

use futures::stream::{FuturesUnordered, StreamExt as _};

/// How many items are processed at once.
const AT_ONCE: usize = 64;

/// Processes all items, and returns the results in order. A future is only created when it can start: a waiting
/// request takes kilobytes, and there may be ten thousand items. A slow item does not delay the others.
pub(super) async fn run_concurrently<I, F: Future>(
    items: impl IntoIterator<Item = I>,
    mut work: impl FnMut(I) -> F,
) -> Vec<F::Output> {
    let (mut left, mut begun, mut done) =
        (items.into_iter().enumerate(), FuturesUnordered::new(), Vec::new());
    loop {
        while begun.len() < AT_ONCE
            && let Some((at, item)) = left.next()
        {
            let working = work(item);
            begun.push(async move { (at, working.await) });
        }
        match begun.next().await {
            Some(output) => done.push(output),
            None => break,
        }
    }
    done.sort_unstable_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, output)| output).collect()
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn results_are_in_order_and_concurrency_is_bounded() {
        let (now, most) = (Cell::new(0), Cell::new(0));
        let (now, most) = (&now, &most);
        let done = run_concurrently(0..200, |item| async move {
            now.set(now.get() + 1);
            most.set(most.get().max(now.get()));
            tokio::task::yield_now().await;
            now.set(now.get() - 1);
            item
        });
        assert_eq!(done.await, (0..200).collect::<Vec<_>>());
        assert_eq!(most.get(), AT_ONCE);
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_item_does_not_delay_the_others() {
        let begun = tokio::time::Instant::now();
        let work = |item: u64| async move {
            tokio::time::sleep(Duration::from_secs(if item == 0 { 100 } else { 1 })).await;
            item
        };
        let items = 0..1_000;
        assert_eq!(run_concurrently(items.clone(), work).await, items.collect::<Vec<_>>());
        assert_eq!(begun.elapsed(), Duration::from_secs(100));
    }
}
