//! Tests on a real control plane. They run where `KUBEBUILDER_ASSETS` names one; elsewhere they are counted as not run.

#![expect(clippy::print_stdout, reason = "it is its own test runner: libtest cannot say what was not run")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot set up its world fails")]

mod faults;
mod real;
mod starting;
mod world;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::process::ExitCode;
use std::time::Instant;

use world::World;

type Test = (&'static str, fn(World) -> Pin<Box<dyn Future<Output = ()>>>);

/// Pairs each test's name with its function.
macro_rules! tests {
    ($($module:ident::$test:ident),* $(,)?) => {
        [$((concat!(stringify!($module), "::", stringify!($test)), |world| Box::pin($module::$test(world)))),*]
    };
}

const TESTS: [Test; 10] = tests![
    real::a_server_is_ready_serves_crds_and_leaves_nothing,
    real::several_at_once_do_not_meet,
    real::two_clusters_share_an_etcd_and_see_nothing_of_each_other,
    real::controllers_collect_garbage_finish_namespaces_and_roll_out,
    starting::the_same_is_there_on_both_right_after_the_start,
    faults::a_port_that_is_taken_meanwhile_is_answered_by_others,
    faults::ports_that_are_always_taken_are_an_error_and_leave_nothing,
    faults::an_etcd_that_dies_is_told_with_its_last_words,
    faults::a_full_disk_is_told_in_etcds_words,
    faults::nothing_is_left_however_the_harness_ends,
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let world = World::of_environment();
    match (arguments.first().map(String::as_str), world) {
        (Some("hold"), Some(world)) => world::block_on(faults::hold(world, &arguments[1..])),
        (_, None) => {
            println!("\n{} tests were not run: KUBEBUILDER_ASSETS names no control plane", TESTS.len());
            println!("(`make control-plane` builds one and prints its folder)\n");
        }
        (_, Some(_)) if arguments.iter().any(|argument| argument == "--list") => {
            let ignored = arguments.iter().any(|argument| argument == "--ignored");
            TESTS.iter().filter(|_| !ignored).for_each(|(name, _)| println!("{name}: test"));
        }
        (_, Some(world)) => return run(&world, &arguments),
    }
    ExitCode::SUCCESS
}

/// Runs the named tests, or all, one after the other: each has its own control plane.
fn run(world: &World, arguments: &[String]) -> ExitCode {
    let filters: Vec<&String> = arguments.iter().filter(|argument| !argument.starts_with("--")).collect();
    let wanted =
        |name: &str| filters.is_empty() || filters.iter().any(|filter| name.contains(filter.as_str()));
    let (mut passed, mut failed) = (0, Vec::new());
    for (name, test) in TESTS.iter().filter(|(name, _)| wanted(name)) {
        let begun = Instant::now();
        let world = world.clone();
        let result = catch_unwind(AssertUnwindSafe(|| world::block_on(test(world))));
        let told = if result.is_ok() { "ok" } else { "FAILED" };
        println!("test {name} ... {told} ({:.1} s)", begun.elapsed().as_secs_f64());
        if result.is_ok() { passed += 1 } else { failed.push(*name) }
    }
    println!("\ntest result: {passed} passed; {} failed {}\n", failed.len(), failed.join(", "));
    if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
