//! Runs contracts on the substrate of `CONFORMANCE_SUBSTRATE`, and on kind also tests that need a kubelet, a scheduler and
//! Services. `make e2e` sets everything up. Without the variable, no test runs.

#![expect(clippy::print_stderr, reason = "the tests print measurements")]

mod certificate;
mod cluster;
#[cfg(feature = "e2e")]
mod containers;
mod contracts;
mod environment;
mod garden;
mod image;
#[path = "../../src/components/list.rs"]
mod list;
mod resource_manager;
mod shoot;
mod tethered;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Completion, Failed, Trial};

use cluster::{Running, SharedCluster};
use environment::Substrate;

type Test = (&'static str, fn(&Running) -> Result<(), String>);

/// A test with its function's name.
macro_rules! test {
    ($module:ident::$name:ident) => {
        (stringify!($name), $module::$name as fn(&Running) -> Result<(), String>)
    };
}

const TESTS: [Test; 12] = [
    test!(resource_manager::a_deployment_is_mutated_by_every_webhook_that_selects_it_and_runs),
    test!(resource_manager::pods_are_spread_over_three_zones_as_the_constraints_say),
    test!(resource_manager::the_deletion_of_a_protected_crd_is_refused_with_our_message),
    test!(resource_manager::a_secret_that_a_managed_resource_names_becomes_objects),
    test!(shoot::it_acts_in_the_target_with_a_token_and_reads_its_namespace_of_the_source_alone),
    test!(garden::a_shoot_is_filled_in_or_refused_by_what_its_profile_offers),
    test!(garden::a_shoot_that_asks_for_maintenance_is_moved_and_holds_its_profile),
    test!(garden::a_control_plane_is_changed_by_its_providers_webhooks_and_that_of_another_is_not),
    test!(certificate::it_is_rotated_while_requests_run_and_none_fails),
    test!(resource_manager::a_killed_pod_comes_back_and_until_then_the_failure_policy_refuses),
    test!(resource_manager::without_the_pod_the_failure_policy_refuses_until_there_is_a_new_one),
    test!(cluster::nothing_leaves_the_machine),
];

/// The test that needs three nodes.
const NEEDS_ZONES: &str = "pods_are_spread_over_three_zones_as_the_constraints_say";

/// A test that needs a Docker engine and no cluster.
type ImageTest = (&'static str, fn() -> Result<(), String>);

const IMAGE_TESTS: [ImageTest; 2] = [
    ("it_keeps_a_contract_and_no_container_is_left", image::it_keeps_a_contract_and_no_container_is_left),
    ("it_goes_when_the_tool_is_killed", image::it_goes_when_the_tool_is_killed),
];

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    // All tests share one cluster and one resource-manager, so they run one after the other.
    arguments.test_threads = Some(1);
    let substrate = Substrate::of_environment();
    match substrate.and_then(|substrate| substrate.map(|substrate| trials(substrate, &arguments)).transpose())
    {
        Ok(Some(trials)) => libtest_mimic::run(&arguments, trials).exit_code(),
        Ok(None) => {
            // Not on standard output, where the list of tests is expected.
            eprintln!("\nno end-to-end test was run: CONFORMANCE_SUBSTRATE is not set; `make e2e` sets it\n");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(3)
        }
    }
}

/// The tests of components in a cluster, of images, and of the contracts, which run in a cluster of their own; all, or a sample.
fn trials(substrate: Substrate, arguments: &Arguments) -> Result<Vec<Trial>, String> {
    let sample = environment::sample()?;
    let mut trials = Vec::new();
    if substrate == Substrate::Kind {
        trials.extend(cluster_trials(arguments, sample.is_none()));
        trials.extend(image_trials());
        #[cfg(feature = "e2e")]
        trials.extend(containers::trials());
    }
    trials.extend(contracts::trials(substrate, sample, arguments)?);
    Ok(trials)
}

fn cluster_trials(arguments: &Arguments, has_zones: bool) -> Vec<Trial> {
    let shared = SharedCluster::default();
    let trial = |(name, test): &Test| {
        let (name, test, shared) = (*name, *test, shared.clone());
        Trial::test(format!("kind::{name}"), move || {
            let run =
                |running: &Running| test(running).map_err(|error| format!("{error}\n{}", running.dump(name)));
            shared.with(run).map_err(Failed::from)
        })
    };
    let mut trials: Vec<Trial> =
        TESTS.iter().filter(|(name, _)| has_zones || *name != NEEDS_ZONES).map(trial).collect();
    let selected = trials.iter().filter(|trial| !arguments.is_filtered_out(trial)).count();
    shared.expect_tests(selected, has_zones);
    if !has_zones {
        let ignored = || Ok(Completion::ignored_with("needs three zones, which `make e2e` has"));
        trials.push(Trial::ignorable_test(format!("kind::{NEEDS_ZONES}"), ignored));
    }
    trials
}

fn image_trials() -> impl Iterator<Item = Trial> {
    let trial =
        |(name, test): ImageTest| Trial::test(format!("image::{name}"), move || test().map_err(Failed::from));
    IMAGE_TESTS.into_iter().map(trial)
}
