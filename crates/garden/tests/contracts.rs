//! Runs this component's contracts in process, without sockets, TLS and files, and on its binary; and its kinds on the
//! embedded API server.

mod server;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use conformance::report::CaseResult;
use conformance::run::{Aggregated, Substrate};
use conformance::target::built_in::BuiltIn;
use conformance::target::command::CommandTarget;
use conformance::target::url::TargetDescription;
use conformance::testing;
use contract::document::{SourceFile, target};
use contract::gardener::decision::RunsOn;
use contract::gardener::plugins;
use contract::model::{Contract, Form};
use gardener_garden::webhooks::resources;
use gardener_garden::{COMPONENT, admission, registrations, strategies};

/// The contracts, without rows for the controller-manager, which maintains Shoots.
fn contracts() -> Vec<Contract> {
    let mut contracts = contracts::of_component(COMPONENT.name).expect("the contracts are well-formed");
    for clause in contracts.iter_mut().flat_map(|contract| &mut contract.clauses) {
        let all = clause.cases.len();
        clause
            .cases
            .retain(|case| case.when.decision().is_none_or(|decision| decision.runs_on != RunsOn::Reconcile));
        clause.is_partial |= clause.cases.len() < all;
    }
    for contract in &mut contracts {
        let all = contract.clauses.len();
        contract.clauses.retain(|clause| !clause.cases.is_empty());
        contract.is_partial |= contract.clauses.len() < all;
    }
    contracts.retain(|contract| !contract.clauses.is_empty());
    contracts
}

#[tokio::test(start_paused = true)]
async fn every_contract_is_kept_and_proven_able_to_fail() {
    testing::assert_keeps(&COMPONENT, contracts()).await;
}

/// The kinds are the server's, and no webhook is registered. A clause that holds of custom resources alone says so (`notOn`).
#[tokio::test(start_paused = true)]
async fn every_contract_is_kept_by_the_server_that_serves_the_kinds_itself() {
    let garden = Aggregated::new("garden", "a test", COMPONENT.name, strategies::typed_kinds())
        .with_plugins(admission::of_cases);
    let substrate = Substrate::Aggregated(Arc::new(garden));
    let report = testing::assert_kept_on(substrate, contracts(), Arc::new(BuiltIn::of(&COMPONENT))).await;
    let cases =
        || report.contracts.iter().flat_map(|contract| &contract.clauses).flat_map(|clause| &clause.cases);
    let sent_directly =
        |case: &&CaseResult| case.asked.as_deref().is_some_and(|text| text.starts_with("sent directly"));
    let direct: Vec<&str> = cases().filter(sent_directly).map(|case| case.name.as_str()).collect();
    assert!(
        direct.len() * 5 < cases().count(),
        "{} cases are not about the server: {direct:?}",
        direct.len()
    );
}

#[test]
fn contracts_may_name_every_plugin_and_no_other() {
    assert_eq!(admission::plugin_names(), plugins::NAMES);
}

#[tokio::test]
async fn the_binary_keeps_every_contract_of_its_webhooks() {
    let mut contracts = contracts();
    contracts.retain(|contract| contract.form != Form::Versions);
    testing::assert_kept(contracts, Arc::new(binary())).await;
}

/// The program, configured by flags, over TLS.
fn binary() -> CommandTarget {
    let text = format!(
        "apiVersion: conformance.gardener.cloud/v1alpha1
kind: Target
metadata: {{name: {name}}}
spec:
  command:
  - {program}
  - --kubeconfig=<sourceKubeconfig>
  - --webhook-config-server-host=127.0.0.1
  - --webhook-config-server-port=<port>
  - --webhook-config-cert-dir=<certDir>
  - --health-bind-address=127.0.0.1:<healthPort>
  - --metrics-bind-address=127.0.0.1:<metricsPort>
  url: https://127.0.0.1:<port>
  ready: http://127.0.0.1:<healthPort>/readyz
  metrics: http://127.0.0.1:<metricsPort>/metrics
",
        name = registrations::NAME,
        program = env!("CARGO_BIN_EXE_gardener-garden-admission"),
    );
    let described = target::read(&SourceFile::new("target.yaml", text)).expect("it is a target");
    let paths = resources()
        .map(|resource| (resource.name.to_owned(), resource.paths().map(str::to_owned).collect::<Vec<_>>()));
    let known = TargetDescription {
        name: described.metadata.name,
        version: Some("v1.82.0".to_owned()),
        paths: paths.collect(),
        registrations: BTreeMap::from([(String::new(), registrations::registrations(None))]),
        ..TargetDescription::default()
    };
    CommandTarget { known, spec: described.spec, folder: PathBuf::from("."), image: None, decisions: None }
}
