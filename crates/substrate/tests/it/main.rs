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
    real::concurrent_control_planes_are_independent,
    real::two_clusters_share_an_etcd_and_are_independent,
    real::controllers_collect_garbage_delete_namespaces_and_roll_out,
    starting::real_and_embedded_servers_start_with_the_same_objects,
    faults::a_start_is_retried_with_other_ports_if_one_is_taken,
    faults::ports_that_are_always_taken_are_an_error,
    faults::a_killed_etcd_is_reported_with_the_end_of_its_log,
    faults::a_full_disk_is_reported_with_etcds_message,
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
        let started_at = Instant::now();
        let world = world.clone();
        let result = catch_unwind(AssertUnwindSafe(|| world::block_on(test(world))));
        let outcome = if result.is_ok() { "ok" } else { "FAILED" };
        println!("test {name} ... {outcome} ({:.1} s)", started_at.elapsed().as_secs_f64());
        if result.is_ok() { passed += 1 } else { failed.push(*name) }
    }
    println!("\ntest result: {passed} passed; {} failed {}\n", failed.len(), failed.join(", "));
    if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
