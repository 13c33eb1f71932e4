//! Two embedded servers agree; one with a planted bug does not, and the sequence that shows it is small.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so by failing")]

mod planted;
mod servers;

use fidelity::run::{Options, run};

use servers::{pair, sound};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_servers_of_one_make_agree_whatever_their_uids_and_times() {
    let outcome = run(&pair(sound(1), sound(2)), &Options::new(1000, 3), &|_| ()).await.unwrap();
    assert_ne!(outcome.exit_code(), 5, "{}", outcome.to_text());
    assert_eq!(outcome.requests, 1000);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_asked_is_no_agreement() {
    let options = Options { kinds: vec!["nothings".to_owned()], ..Options::new(10, 1) };
    let outcome = run(&pair(sound(1), sound(2)), &options, &|_| ()).await.unwrap();
    assert_eq!(outcome.exit_code(), 4);
}
