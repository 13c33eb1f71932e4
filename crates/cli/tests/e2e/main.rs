//! Our images in a real cluster: what only a kubelet, a scheduler and Services can show. `make e2e` sets everything up.

#![expect(clippy::panic, reason = "a test that cannot go on fails")]

mod cluster;
mod resource_manager;

use std::process::ExitCode;
use std::sync::Arc;

use libtest_mimic::{Arguments, Failed, Trial};

use cluster::Running;

type Test = (&'static str, fn(&Running) -> Result<(), String>);

const TESTS: [Test; 5] = [
    (
        "a_deployment_is_mutated_by_every_webhook_that_selects_it_and_runs",
        resource_manager::a_deployment_is_mutated_by_every_webhook_that_selects_it_and_runs,
    ),
    (
        "the_deletion_of_a_protected_crd_is_refused_in_our_words",
        resource_manager::the_deletion_of_a_protected_crd_is_refused_in_our_words,
    ),
    (
        "a_secret_that_a_managed_resource_names_becomes_objects",
        resource_manager::a_secret_that_a_managed_resource_names_becomes_objects,
    ),
    (
        "without_the_pod_the_failure_policy_refuses_and_with_the_next_one_all_goes_on",
        resource_manager::without_the_pod_the_failure_policy_refuses_and_with_the_next_one_all_goes_on,
    ),
    ("nothing_leaves_the_machine", cluster::nothing_leaves_the_machine),
];

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    // One cluster, one resource-manager: tests are told apart by their order.
    arguments.test_threads = Some(1);
    if arguments.list {
        return libtest_mimic::run(&arguments, trials(None)).exit_code();
    }
    let running = match Running::start() {
        Ok(running) => Arc::new(running),
        Err(error) => panic!("{error}"),
    };
    libtest_mimic::run(&arguments, trials(Some(&running))).exit_code()
}

fn trials(running: Option<&Arc<Running>>) -> Vec<Trial> {
    let trial = |(name, test): Test| {
        let running = running.cloned();
        Trial::test(format!("resource_manager::{name}"), move || {
            let Some(running) = &running else { return Ok(()) };
            test(running).map_err(Failed::from)
        })
    };
    TESTS.map(trial).into_iter().collect()
}
