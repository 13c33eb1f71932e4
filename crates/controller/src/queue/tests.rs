//! The queue under a paused clock.

use std::sync::Arc;
use std::time::Duration;

use formats::exposition;
use tokio::time::{Instant, timeout};

use super::*;

fn queue() -> Queue<&'static str> {
    Queue::new("test", RateLimiter::default())
}

/// Takes all items that can be handed out now.
async fn taken(queue: &Queue<&'static str>) -> Vec<&'static str> {
    let mut items = Vec::new();
    while let Ok(Some(item)) = timeout(Duration::ZERO, queue.get()).await {
        items.push(item);
    }
    items
}

#[tokio::test(start_paused = true)]
async fn an_item_is_handed_out_once_however_often_it_is_added() {
    let queue = queue();
    for item in ["a", "b", "a", "c", "b"] {
        queue.add(item);
    }
    assert_eq!(queue.len(), 3);
    assert_eq!(taken(&queue).await, ["a", "b", "c"]);
}

#[tokio::test(start_paused = true)]
async fn an_item_added_while_it_is_worked_on_comes_again_when_that_is_done() {
    let queue = queue();
    queue.add("a");
    assert_eq!(queue.get().await, Some("a"));
    queue.add("a");
    queue.add("a");
    assert_eq!(taken(&queue).await, [""; 0]);
    queue.done(&"a");
    assert_eq!(taken(&queue).await, ["a"]);
    queue.done(&"a");
    assert_eq!(taken(&queue).await, [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_failing_item_waits_twice_as_long_each_time_up_to_a_thousand_seconds() {
    let queue = Queue::new("test", RateLimiter::default());
    let mut waited = Vec::new();
    for _ in 0..21 {
        let added = Instant::now();
        queue.add_rate_limited("a");
        assert_eq!(queue.get().await, Some("a"));
        waited.push(added.elapsed().as_millis());
        queue.done(&"a");
    }
    let doubled = (0..18).map(|times| 5_u128 << times);
    assert_eq!(waited, doubled.chain([1_000_000; 3]).collect::<Vec<_>>());
    assert_eq!(queue.requeues(&"a"), 21);
    queue.forget(&"a");
    assert_eq!(queue.requeues(&"a"), 0);
    let added = Instant::now();
    queue.add_rate_limited("a");
    assert_eq!(queue.get().await, Some("a"));
    assert_eq!(added.elapsed().as_millis(), 5);
}

#[tokio::test(start_paused = true)]
async fn over_all_items_ten_a_second_fail_after_a_burst_of_a_hundred() {
    let queue = Queue::new("test", RateLimiter::default());
    for item in 0..120 {
        queue.add_rate_limited(item);
    }
    let start = Instant::now();
    let mut at = Vec::new();
    for _ in 0..120 {
        queue.get().await.unwrap();
        at.push(start.elapsed().as_millis());
    }
    let burst = vec![5; 100];
    assert_eq!(at, burst.into_iter().chain((1..=20).map(|nth| nth * 100)).collect::<Vec<_>>());
}

#[tokio::test(start_paused = true)]
async fn of_several_delays_the_earliest_counts() {
    let queue = queue();
    let start = Instant::now();
    queue.add_after("a", Duration::from_mins(1));
    queue.add_after("a", Duration::from_secs(2));
    queue.add_after("a", Duration::from_secs(30));
    queue.add_after("b", Duration::from_secs(1));
    queue.add_after("now", Duration::ZERO);
    let mut seen = Vec::new();
    while let Ok(item) = timeout(Duration::from_secs(100), queue.get()).await {
        seen.push((item.unwrap(), start.elapsed().as_secs()));
    }
    assert_eq!(seen, [("now", 0), ("b", 1), ("a", 2)]);
}

#[tokio::test(start_paused = true)]
async fn a_waiting_worker_wakes_even_if_others_consumed_the_notification() {
    let queue = Arc::new(queue());
    let worker = |queue: Arc<Queue<&'static str>>| {
        tokio::spawn(async move {
            let item = queue.get().await.unwrap();
            (item, Instant::now())
        })
    };
    let start = Instant::now();
    let workers = [worker(queue.clone()), worker(queue.clone()), worker(queue.clone())];
    tokio::time::sleep(Duration::from_secs(1)).await;
    queue.add_after("later", Duration::from_secs(5));
    tokio::time::sleep(Duration::from_secs(1)).await;
    queue.add("first");
    queue.add("second");
    let mut seen = Vec::new();
    for worker in workers {
        let (item, at) = worker.await.unwrap();
        seen.push((item, (at - start).as_secs()));
    }
    seen.sort_unstable();
    assert_eq!(seen, [("first", 2), ("later", 6), ("second", 2)]);
}

#[tokio::test(start_paused = true)]
async fn a_dropped_worker_passes_its_wakeup_to_others() {
    let queue = Arc::new(queue());
    let worker = |queue: Arc<Queue<&'static str>>| tokio::spawn(async move { queue.get().await });
    let (first, second) = (worker(queue.clone()), worker(queue.clone()));
    tokio::time::sleep(Duration::from_secs(1)).await;
    let start = Instant::now();
    // Only one of them is notified.
    queue.add_after("later", Duration::from_secs(5));
    tokio::time::sleep(Duration::from_secs(1)).await;
    first.abort();
    assert_eq!(second.await.unwrap(), Some("later"));
    assert_eq!(start.elapsed(), Duration::from_secs(5));
}

#[tokio::test(start_paused = true)]
async fn a_queue_that_is_shut_down_hands_out_what_it_has_and_takes_nothing() {
    let queue = queue();
    queue.add("a");
    queue.add_after("late", Duration::from_secs(1));
    queue.shut_down();
    queue.add("b");
    queue.add_after("c", Duration::ZERO);
    assert!(queue.is_shut_down());
    assert_eq!(queue.get().await, Some("a"));
    assert_eq!(queue.get().await, None);
}

#[tokio::test(start_paused = true)]
async fn shutting_down_wakes_all_and_waits_for_work_in_progress() {
    let queue = Arc::new(queue());
    queue.add("a");
    assert_eq!(queue.get().await, Some("a"));
    let waiting = tokio::spawn({
        let queue = queue.clone();
        async move { queue.get().await }
    });
    let done = tokio::spawn({
        let queue = queue.clone();
        async move {
            tokio::time::sleep(Duration::from_secs(3)).await;
            queue.done(&"a");
        }
    });
    let start = Instant::now();
    queue.shut_down_with_drain().await;
    assert_eq!(start.elapsed(), Duration::from_secs(3));
    assert_eq!(waiting.await.unwrap(), None);
    done.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_queue_is_measured() {
    let queue = queue();
    queue.add("a");
    queue.add("a");
    queue.add("b");
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(queue.get().await, Some("a"));
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert_eq!(queue.get().await, Some("b"));
    tokio::time::sleep(Duration::from_secs(1)).await;
    queue.done(&"b");
    queue.add("a");
    queue.add_after("c", Duration::from_secs(9));
    let text = exposition::encode(queue.metrics());
    let plain = text.lines().filter(|line| !line.starts_with('#') && !line.contains("_bucket"));
    let want = [
        r#"workqueue_adds_total{name="test"} 3"#,
        r#"workqueue_depth{name="test"} 1"#,
        r#"workqueue_longest_running_processor_seconds{name="test"} 4"#,
        r#"workqueue_queue_duration_seconds_sum{name="test"} 7"#,
        r#"workqueue_queue_duration_seconds_count{name="test"} 2"#,
        r#"workqueue_retries_total{name="test"} 1"#,
        r#"workqueue_unfinished_work_seconds{name="test"} 4"#,
        r#"workqueue_work_duration_seconds_sum{name="test"} 1"#,
        r#"workqueue_work_duration_seconds_count{name="test"} 1"#,
    ];
    assert_eq!(plain.collect::<Vec<_>>(), want);
    assert!(text.contains(r#"workqueue_queue_duration_seconds_bucket{name="test",le="1e-08"} 0"#), "{text}");
    assert!(text.contains(r#"workqueue_queue_duration_seconds_bucket{name="test",le="10"} 2"#), "{text}");
}
