//! Many objects, of which a few at a time are worked on.

use std::future::Future;

use futures::StreamExt as _;
use futures::stream::FuturesOrdered;

/// So many objects are worked on at once.
const AT_ONCE: usize = 64;

/// Works on all items, and gives what came of them in their order. Work is begun when there is room for it: what waits
/// for an answer holds kilobytes, and there may be ten thousand items.
pub(super) async fn in_turns<I, F: Future>(
    items: impl IntoIterator<Item = I>,
    mut work: impl FnMut(I) -> F,
) -> Vec<F::Output> {
    let (mut left, mut begun, mut done) = (items.into_iter(), FuturesOrdered::new(), Vec::new());
    loop {
        while begun.len() < AT_ONCE
            && let Some(item) = left.next()
        {
            begun.push_back(work(item));
        }
        match begun.next().await {
            Some(output) => done.push(output),
            None => return done,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

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
}
