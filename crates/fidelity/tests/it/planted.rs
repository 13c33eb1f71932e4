//! Bugs planted in one of two servers are found within the budget that CI has, and shown by small sequences.

use std::future::pending;

use fidelity::run::{Options, run};

use crate::servers::{Bug, faulty, pair, sound};

/// The budget of CI (`.ci/steps/fidelity`).
pub(crate) const BUDGET: usize = 1000;

/// What is found of a bug: the part that differs, what was asked, and of how many requests the sequence is.
async fn found(bug: Bug) -> Vec<(String, String, usize)> {
    let options = Options { examples: 3, ..Options::new(BUDGET, 1) };
    let outcome = run(&pair(sound(1), faulty(bug)), &options, &|_| (), pending()).await;
    assert_eq!(outcome.exit_code(), 5, "{bug:?} was not found");
    let told = outcome.found.into_iter();
    told.map(|example| {
        let part = example.found.differences[0].part.clone();
        (part, example.found.exercise.words(), example.sequence.requests.len())
    })
    .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_conflict_is_found() {
    let found = found(Bug::LostConflict).await;
    let update = found.iter().find(|(part, asked, _)| part == "code" && asked.starts_with("update"));
    assert!(update.is_some_and(|(_, _, requests)| *requests <= 4), "{found:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wrong_order_of_watch_events_is_found() {
    let found = found(Bug::WrongWatchOrder).await;
    let watch = found.iter().find(|(part, asked, _)| part.starts_with("watch/0") && asked == "watch");
    assert!(watch.is_some_and(|(_, _, requests)| *requests <= 4), "{found:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_missing_default_is_found() {
    let found = found(Bug::MissingDefault).await;
    let answer = found.iter().find(|(part, _, _)| part == "body/type");
    assert!(answer.is_some_and(|(_, _, requests)| *requests <= 2), "{found:?}");
}
