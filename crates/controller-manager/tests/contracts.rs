//! Runs this component's contracts in process: without sockets, TLS and files.

mod bootstrapper;
mod outside;
mod process;

use conformance::testing;
use gardener_controller_manager::COMPONENT;

#[tokio::test(start_paused = true)]
async fn every_contract_is_kept_and_proven_able_to_fail() {
    let contracts = contracts::of_component(COMPONENT.name).expect("the contracts are well-formed");
    testing::assert_keeps(&COMPONENT, contracts).await;
}

#[tokio::test]
async fn the_program_keeps_the_contracts_about_its_process() {
    let contracts = contracts::of_component(COMPONENT.name).expect("the contracts are well-formed");
    let program = env!("CARGO_BIN_EXE_gardener-controller-manager");
    testing::assert_process_keeps(&COMPONENT, contracts, program).await;
}
