//! Bugs planted in one of two servers are found within CI's budget of requests, and shown by small sequences.

use std::future::pending;

use fidelity::run::{RunOptions, run};

use crate::servers::{Bug, faulty, servers, sound};

/// The budget of CI (`.ci/steps/fidelity`).
pub(crate) const BUDGET: usize = 1000;

/// The differences that a bug causes: part of the answer, operation, and number of requests of the sequence.
async fn differences(bug: Bug) -> Vec<(String, String, usize)> {
    let options = RunOptions { examples: 3, ..RunOptions::new(BUDGET, 1) };
    let outcome = run(&servers(sound(1), faulty(bug)), &options, &|_| (), pending()).await;
    assert_eq!(outcome.exit_code(), 5, "{bug:?} was not found");
    let examples = outcome.found.into_iter();
    examples
        .map(|example| {
            let part = example.found.differences[0].part.clone();
            (part, example.found.exercise.operation(), example.sequence.requests.len())
        })
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_conflict_is_found() {
    let found = differences(Bug::LostConflict).await;
    let update = found.iter().find(|(part, operation, _)| part == "code" && operation.starts_with("update"));
    assert!(update.is_some_and(|(_, _, requests)| *requests <= 4), "{found:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wrong_order_of_watch_events_is_found() {
    let found = differences(Bug::WrongWatchOrder).await;
    let watch = found.iter().find(|(part, operation, _)| part.starts_with("watch/0") && operation == "watch");
    assert!(watch.is_some_and(|(_, _, requests)| *requests <= 4), "{found:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_missing_default_is_found() {
    let found = differences(Bug::MissingDefault).await;
    let answer = found.iter().find(|(part, _, _)| part == "body/type");
    assert!(answer.is_some_and(|(_, _, requests)| *requests <= 2), "{found:?}");
}
