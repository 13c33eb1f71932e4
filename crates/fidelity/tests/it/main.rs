//! Two embedded servers agree; one with a planted bug does not, and the sequence that shows it is small.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so by failing")]

mod planted;
mod servers;

use std::future::pending;

use fidelity::run::{Options, run};

use servers::{pair, sound};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_servers_of_one_make_agree_whatever_their_uids_and_times() {
    let outcome = run(&pair(sound(1), sound(2)), &Options::new(1000, 3), &|_| (), pending()).await;
    assert_ne!(outcome.exit_code(), 5, "{}", outcome.to_text());
    assert_eq!(outcome.requests, 1000);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_requests_that_decide_in_ci_are_wild_enough() {
    let options = Options::new(planted::BUDGET, 1);
    let outcome = run(&pair(sound(1), sound(2)), &options, &|_| (), pending()).await;
    assert_eq!(outcome.exit_code(), 0, "{}", outcome.to_text());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_asked_is_no_agreement() {
    let options = Options { kinds: vec!["nothings".to_owned()], ..Options::new(10, 1) };
    let outcome = run(&pair(sound(1), sound(2)), &options, &|_| (), pending()).await;
    assert_eq!(outcome.exit_code(), 4);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_is_stopped_tells_what_it_saw() {
    let (stop, stopped) = tokio::sync::oneshot::channel();
    let stop = std::sync::Mutex::new(Some(stop));
    let progress = |_| {
        if let Some(stop) = stop.lock().unwrap().take() {
            stop.send(()).unwrap();
        }
    };
    let stopped = async move { stopped.await.unwrap() };
    let outcome = run(&pair(sound(1), sound(2)), &Options::new(100_000, 3), &progress, stopped).await;
    assert!(outcome.stopped && outcome.requests > 0 && outcome.requests < 100_000, "{}", outcome.requests);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_whose_server_does_not_answer_fails_and_says_so() {
    let dead = tower::service_fn(|_: http::Request<kube::client::Body>| async {
        Err::<http::Response<kube::client::Body>, _>(std::io::Error::other("nobody is there"))
    });
    let dead = fidelity::server::Server::new(kube::Client::new(dead, "default"));
    let outcome = run(&pair(sound(1), dead), &Options::new(10, 1), &|_| (), pending()).await;
    assert_eq!((outcome.exit_code(), outcome.requests), (3, 0));
    assert!(outcome.to_text().contains("not all was asked"));
}
