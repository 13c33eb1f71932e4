//! Contracts on the substrate of `CONFORMANCE_SUBSTRATE`, and on kind what only a kubelet, a scheduler and Services can show.
//! `make e2e` sets everything up; nothing is asked where the variable is not set.

#![expect(clippy::print_stderr, reason = "what is measured is told beside the tests")]

mod certificate;
mod cluster;
mod contracts;
mod garden;
mod image;
#[path = "../../src/components/list.rs"]
mod list;
mod place;
mod resource_manager;
mod shoot;
mod tethered;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Completion, Failed, Trial};

use cluster::{Running, Shared};
use place::Substrate;

type Test = (&'static str, fn(&Running) -> Result<(), String>);

/// A test by its own name.
macro_rules! test {
    ($module:ident::$name:ident) => {
        (stringify!($name), $module::$name as fn(&Running) -> Result<(), String>)
    };
}

const TESTS: [Test; 12] = [
    test!(resource_manager::a_deployment_is_mutated_by_every_webhook_that_selects_it_and_runs),
    test!(resource_manager::pods_are_spread_over_three_zones_as_the_constraints_say),
    test!(resource_manager::the_deletion_of_a_protected_crd_is_refused_in_our_words),
    test!(resource_manager::a_secret_that_a_managed_resource_names_becomes_objects),
    test!(shoot::it_acts_in_the_target_with_a_token_and_reads_its_namespace_of_the_source_alone),
    test!(garden::a_shoot_is_filled_in_or_refused_by_what_its_profile_offers),
    test!(garden::a_shoot_that_asks_for_maintenance_is_moved_and_holds_its_profile),
    test!(garden::a_control_plane_is_changed_by_its_providers_webhooks_and_that_of_another_is_not),
    test!(certificate::it_is_rotated_while_requests_run_and_none_fails),
    test!(resource_manager::a_pod_that_is_killed_comes_back_and_meanwhile_the_failure_policy_refuses),
    test!(resource_manager::without_the_pod_the_failure_policy_refuses_and_with_the_next_one_all_goes_on),
    test!(cluster::nothing_leaves_the_machine),
];

/// What a cluster of one node cannot show.
const NEEDS_ZONES: &str = "pods_are_spread_over_three_zones_as_the_constraints_say";

/// What needs an engine and no cluster.
type TestOfImages = (&'static str, fn() -> Result<(), String>);

const TESTS_OF_IMAGES: [TestOfImages; 2] = [
    ("it_keeps_a_contract_and_no_container_is_left", image::it_keeps_a_contract_and_no_container_is_left),
    ("it_goes_when_the_tool_is_killed", image::it_goes_when_the_tool_is_killed),
];

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    // One cluster, one resource-manager: tests are told apart by their order.
    arguments.test_threads = Some(1);
    let substrate = Substrate::of_environment();
    match substrate.and_then(|found| found.map(|found| trials(found, &arguments)).transpose()) {
        Ok(Some(trials)) => libtest_mimic::run(&arguments, trials).exit_code(),
        Ok(None) => {
            // Who lists tests reads the other stream.
            eprintln!("\nno cluster was asked: CONFORMANCE_SUBSTRATE names none (`make e2e`)\n");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(3)
        }
    }
}

/// What is shown of pods, and meanwhile, in a cluster of its own, the cases of contracts; all of them, or a sample of both.
fn trials(substrate: Substrate, arguments: &Arguments) -> Result<Vec<Trial>, String> {
    let sample = place::sample()?;
    let mut trials = Vec::new();
    if substrate == Substrate::Kind {
        trials.extend(of_pods(arguments, sample.is_none()));
        trials.extend(of_images());
    }
    trials.extend(contracts::trials(substrate, sample, arguments)?);
    Ok(trials)
}

fn of_pods(arguments: &Arguments, has_zones: bool) -> Vec<Trial> {
    let shared = Shared::default();
    let of = |(name, test): &Test| {
        let (name, test, shared) = (*name, *test, shared.clone());
        Trial::test(format!("kind::{name}"), move || {
            let tested =
                |running: &Running| test(running).map_err(|error| format!("{error}\n{}", running.dump(name)));
            shared.with(tested).map_err(Failed::from)
        })
    };
    let mut trials: Vec<Trial> =
        TESTS.iter().filter(|(name, _)| has_zones || *name != NEEDS_ZONES).map(of).collect();
    let wanted = trials.iter().filter(|trial| !arguments.is_filtered_out(trial)).count();
    shared.awaits(wanted, has_zones);
    if !has_zones {
        let why = || Ok(Completion::ignored_with("it needs three zones, which the whole of `make e2e` has"));
        trials.push(Trial::ignorable_test(format!("kind::{NEEDS_ZONES}"), why));
    }
    trials
}

fn of_images() -> impl Iterator<Item = Trial> {
    let of = |(name, test): TestOfImages| {
        Trial::test(format!("image::{name}"), move || test().map_err(Failed::from))
    };
    TESTS_OF_IMAGES.into_iter().map(of)
}
