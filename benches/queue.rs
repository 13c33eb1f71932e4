//! The work queue: adding and handing out requests, adding duplicates, and adding with rate limiting.

use std::time::Duration;

use controller::Request;
use controller::queue::{Queue, RateLimiter};
use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use tokio::runtime::{Builder, Runtime};

const ITEMS: usize = 100_000;

fn requests() -> Vec<Request> {
    (0..ITEMS)
        .map(|number| Request::new(format!("shoot--{}", number % 500), format!("managed-resource-{number}")))
        .collect()
}

fn queue() -> Queue<Request> {
    Queue::new("bench", RateLimiter::exponential(Duration::from_millis(5), Duration::from_secs(1000)))
}

async fn drain(queue: &Queue<Request>) {
    for _ in 0..ITEMS {
        let Some(request) = queue.get().await else { return };
        queue.forget(&request);
        queue.done(&request);
    }
}

fn measure(criterion: &mut Criterion, runtime: &Runtime, requests: &[Request]) {
    let mut group = criterion.benchmark_group("queue, 100k requests");
    group.throughput(Throughput::Elements(ITEMS as u64)).sample_size(10);
    group.bench_function("add, get, done", |bencher| {
        bencher.to_async(runtime).iter_batched(
            || (queue(), requests.to_vec()),
            |(queue, requests)| async move {
                for request in requests {
                    queue.add(request);
                }
                drain(&queue).await;
            },
            BatchSize::LargeInput,
        );
    });
    group.bench_function("add duplicates", |bencher| {
        let full = queue();
        for request in requests {
            full.add(request.clone());
        }
        bencher.iter_batched(
            || requests.to_vec(),
            |requests| requests.into_iter().for_each(|request| full.add(request)),
            BatchSize::LargeInput,
        );
    });
    group.bench_function("add later, get, done", |bencher| {
        bencher.to_async(runtime).iter_batched(
            || (queue(), requests.to_vec()),
            |(queue, requests)| async move {
                for request in requests {
                    queue.add_rate_limited(request);
                }
                drain(&queue).await;
            },
            BatchSize::LargeInput,
        );
    });
    group.finish();
}

fn benches(criterion: &mut Criterion) {
    let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime can be built");
    measure(criterion, &runtime, &requests());
}

criterion_group!(all, benches);
criterion_main!(all);
