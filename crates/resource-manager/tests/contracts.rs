//! Runs this component's contracts in process: without sockets, TLS and files.

use std::process::{Command, Stdio};
use std::time::Duration;

use conformance::testing;
use gardener_resource_manager::COMPONENT;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[tokio::test(start_paused = true)]
async fn every_contract_is_kept_and_proven_able_to_fail() {
    let contracts = contracts::of_component(COMPONENT.name).expect("the contracts are well-formed");
    testing::assert_keeps(&COMPONENT, contracts).await;
}

#[tokio::test]
async fn the_program_keeps_the_contracts_about_its_process() {
    let contracts = contracts::of_component(COMPONENT.name).expect("the contracts are well-formed");
    let program = env!("CARGO_BIN_EXE_gardener-resource-manager");
    testing::assert_process_keeps(&COMPONENT, contracts, program).await;
}

/// The environment of the program while it waits for its configuration, from `/proc`.
fn environment_where(delay: Option<&str>) -> Option<String> {
    const DELAY: &str = "MIMALLOC_PURGE_DELAY";
    let mut command = Command::new(env!("CARGO_BIN_EXE_gardener-resource-manager"));
    command.args(["--config", "/dev/stdin"]).stdin(Stdio::piped()).env_remove(DELAY);
    command.envs(delay.map(|delay| (DELAY, delay)));
    let mut program = command.spawn().expect("it is there");
    let read_proc = |file: &str| std::fs::read_to_string(format!("/proc/{}/{file}", program.id()));
    let set = || {
        let environment = read_proc("environ").ok()?;
        let line = environment.split('\0').find_map(|line| line.strip_prefix(DELAY)?.strip_prefix('='))?;
        Some(line.to_owned())
    };
    let found = (0..200).find_map(|_| {
        std::thread::sleep(Duration::from_millis(50));
        set()
    });
    let arguments = read_proc("cmdline").expect("it runs");
    assert!(arguments.ends_with("\0--config\0/dev/stdin\0"), "{arguments:?}");
    program.kill().expect("it runs");
    program.wait().expect("it ends");
    found
}

#[test]
fn the_program_returns_freed_memory_immediately_unless_configured_otherwise() {
    assert_eq!(environment_where(None).as_deref(), Some("0"));
    assert_eq!(environment_where(Some("7")).as_deref(), Some("7"));
}
