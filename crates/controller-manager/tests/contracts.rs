//! Runs this component's contracts in process: without sockets, TLS and files.

mod outside;
mod process;

use conformance::testing;
use gardener_controller_manager::COMPONENT;

#[tokio::test(start_paused = true)]
async fn every_contract_is_kept_and_proven_able_to_fail() {
    let contracts = contracts::of_component(COMPONENT.name).expect("the contracts are well-formed");
    testing::assert_keeps(&COMPONENT, contracts, env!("CARGO_MANIFEST_DIR")).await;
}
