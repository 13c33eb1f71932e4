//! Many objects, of which a few at a time are worked on.

use std::future::Future;

use futures::stream::{FuturesUnordered, StreamExt as _};

/// So many objects are worked on at once.
const AT_ONCE: usize = 64;

/// Works on all items, and gives what came of them in their order. Work is begun when there is room for it: what waits
/// for an answer holds kilobytes, and there may be ten thousand items. One that takes long keeps no other from being begun.
pub(super) async fn in_turns<I, F: Future>(
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
    async fn all_is_done_in_order_and_never_more_at_once_than_there_is_room_for() {
        let (now, most) = (Cell::new(0), Cell::new(0));
        let (now, most) = (&now, &most);
        let done = in_turns(0..200, |item| async move {
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
    async fn what_takes_long_keeps_no_other_waiting() {
        let begun = tokio::time::Instant::now();
        let work = |item: u64| async move {
            tokio::time::sleep(Duration::from_secs(if item == 0 { 100 } else { 1 })).await;
            item
        };
        let items = 0..1_000;
        assert_eq!(in_turns(items.clone(), work).await, items.collect::<Vec<_>>());
        assert_eq!(begun.elapsed(), Duration::from_secs(100));
    }
}
