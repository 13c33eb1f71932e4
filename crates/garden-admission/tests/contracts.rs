//! The contracts of this component, asked of it in process, without socket, TLS and file, and of its binary.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use conformance::report::{Report, Verdict};
use conformance::run::{Event, FactsFrom, Ground, Interrupt, Options, run};
use conformance::target::Target;
use conformance::target::built_in::{BuiltIn, Component, Ingredients};
use conformance::target::command::CommandTarget;
use conformance::target::url::Known;
use contract::document::{SourceFile, target};
use contract::model::Contract;
use garden_admission::webhooks::RESOURCES;
use garden_admission::{registrations, serving};
use jiff::Timestamp;

const COMPONENT: &str = "garden-admission";

/// Set by `cargo xtask mutants`, which asks only whether some case fails.
const FAIL_FAST: &str = "FAIL_FAST";

#[tokio::test(start_paused = true)]
async fn every_contract_is_kept_and_proven_able_to_fail() {
    keeps_them(Arc::new(in_process())).await;
}

#[tokio::test]
async fn the_binary_keeps_every_contract() {
    keeps_them(Arc::new(binary())).await;
}

async fn keeps_them(target: Arc<dyn Target>) {
    let contracts = contracts::of_component(COMPONENT).expect("the contracts are well-formed");
    assert!(contracts.len() > 10, "{} contracts", contracts.len());
    let contracts: Arc<[Contract]> = contracts.into();
    let fail_fast = std::env::var_os(FAIL_FAST).is_some();
    let report = run(contracts, target, &options(fail_fast), &|_: Event<'_>| {}, &Interrupt::default()).await;
    assert_eq!(report.environment_errors, Vec::<String>::new());
    assert_eq!(failures(&report), Vec::<String>::new());
    assert_eq!(report.verdict, Verdict::Conformant);
}

/// What is not as it should be, one line each.
fn failures(report: &Report) -> Vec<String> {
    let mut lines = Vec::new();
    for contract in &report.contracts {
        for clause in &contract.clauses {
            for case in &clause.cases {
                let checks = case.checks.iter();
                lines.extend(checks.map(|check| {
                    format!(
                        "{}/{}: {} {}: want {}, got {}",
                        clause.id, case.name, check.part, check.path, check.want, check.got
                    )
                }));
            }
            let unproven = clause.proof.iter().filter(|proof| !proof.proven);
            lines.extend(unproven.map(|_| format!("{}: not proven able to fail", clause.id)));
        }
        lines.extend(contract.gaps.iter().map(|gap| format!("{}: gap {gap:?}", contract.name)));
        lines.extend(contract.unexplained.iter().map(|change| {
            format!("{}: unexplained {} became {}", contract.name, change.path, change.became)
        }));
    }
    lines
}

fn in_process() -> BuiltIn {
    BuiltIn::new(COMPONENT, env!("CARGO_PKG_VERSION"), BTreeSet::new(), make)
}

async fn make(ingredients: Ingredients) -> Result<Component, String> {
    let client = ingredients.facts.ok_or("it needs a garden")?.client;
    let shown = ingredients.now;
    Ok(Component {
        service: serving::webhooks(client, Arc::new(move || shown.unwrap_or_else(Timestamp::now))),
        registrations: registrations::registrations(None),
        metrics: Box::new(String::new),
        guard: Box::new(()),
    })
}

/// The program, told by its flags, over TLS.
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
    let paths = RESOURCES.iter().map(|resource| {
        (
            resource.name.to_owned(),
            vec![resource.mutating_path.to_owned(), resource.validating_path.to_owned()],
        )
    });
    let known = Known {
        name: described.metadata.name,
        version: Some("v1.82.0".to_owned()),
        paths: paths.collect(),
        registrations: BTreeMap::from([(String::new(), registrations::registrations(None))]),
        ..Known::default()
    };
    CommandTarget { known, spec: described.spec, folder: PathBuf::from("."), image: None, decisions: None }
}

fn options(fail_fast: bool) -> Options {
    Options {
        ground: Ground::Direct(FactsFrom::Embedded),
        seed: 0,
        parallel: 4,
        repeat: 1,
        fail_fast,
        settle: Duration::ZERO,
        time_budget: Duration::from_secs(30),
        strict: false,
        waivers: Vec::new(),
        started_at: "2026-01-01T00:00:00Z".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        command: "cargo test -p garden-admission".to_owned(),
        expression: vec![format!("component {COMPONENT}")],
    }
}
