//! Compares two embedded servers: equal ones agree, and planted bugs are found.
//!
//! Equal servers are compared in paused time, so that both read the same clock: which second a write falls into decides
//! the order of `managedFields`, and whether an update changes anything.

#![expect(clippy::unwrap_used, reason = "a test that cannot continue should fail")]

mod planted;
mod servers;

use std::future::pending;

use fidelity::run::{RunOptions, run};

use servers::{servers, sound};

#[tokio::test(start_paused = true)]
async fn two_embedded_servers_agree_whatever_their_uids_and_times() {
    let outcome = run(&servers(sound(1), sound(2)), &RunOptions::new(1000, 3), &|_| (), pending()).await;
    assert_ne!(outcome.exit_code(), 5, "{}", outcome.to_text());
    assert_eq!(outcome.requests, 1000);
}

#[tokio::test(start_paused = true)]
async fn the_requests_of_ci_are_varied_enough() {
    let options = RunOptions::new(planted::BUDGET, 1);
    let outcome = run(&servers(sound(1), sound(2)), &options, &|_| (), pending()).await;
    assert_eq!(outcome.exit_code(), 0, "{}", outcome.to_text());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_without_requests_exits_with_four() {
    let options = RunOptions { kinds: vec!["nothings".to_owned()], ..RunOptions::new(10, 1) };
    let outcome = run(&servers(sound(1), sound(2)), &options, &|_| (), pending()).await;
    assert_eq!(outcome.exit_code(), 4);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stopped_run_returns_what_it_found() {
    let (stop, stopped) = tokio::sync::oneshot::channel();
    let stop = std::sync::Mutex::new(Some(stop));
    let progress = |_| {
        if let Some(stop) = stop.lock().unwrap().take() {
            stop.send(()).unwrap();
        }
    };
    let stopped = async move { stopped.await.unwrap() };
    let outcome = run(&servers(sound(1), sound(2)), &RunOptions::new(100_000, 3), &progress, stopped).await;
    assert!(outcome.stopped && outcome.requests > 0 && outcome.requests < 100_000, "{}", outcome.requests);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_whose_server_does_not_answer_fails() {
    let dead = tower::service_fn(|_: http::Request<kube::client::Body>| async {
        Err::<http::Response<kube::client::Body>, _>(std::io::Error::other("no server"))
    });
    let dead = fidelity::server::Server::new(kube::Client::new(dead, "default"));
    let outcome = run(&servers(sound(1), dead), &RunOptions::new(10, 1), &|_| (), pending()).await;
    assert_eq!((outcome.exit_code(), outcome.requests), (3, 0));
    assert!(outcome.to_text().contains("incomplete: the run ended early"));
}
