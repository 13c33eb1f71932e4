//! The contracts of this component, asked of it in process: no socket, no TLS, no file.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use conformance::report::{Report, Verdict};
use conformance::run::{Event, FactsFrom, Ground, Interrupt, Options, run};
use conformance::target::built_in::{BuiltIn, Component, Ingredients};
use contract::model::{Catalog, Contract};
use garden_admission::{registrations, serving};
use jiff::Timestamp;

const COMPONENT: &str = "garden-admission";

/// Set by `cargo xtask mutants`, which asks only whether some case fails.
const FAIL_FAST: &str = "FAIL_FAST";

#[tokio::test(start_paused = true)]
async fn every_contract_is_kept_and_proven_able_to_fail() {
    let mut contracts = Catalog::embedded().expect("the contracts are well-formed").contracts;
    contracts.retain(|contract| contract.component == COMPONENT);
    assert!(contracts.len() > 10, "{} contracts", contracts.len());
    let contracts: Arc<[Contract]> = contracts.into();
    let fail_fast = std::env::var_os(FAIL_FAST).is_some();
    let report =
        run(contracts, Arc::new(target()), &options(fail_fast), &|_: Event<'_>| {}, &Interrupt::default())
            .await;
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

fn target() -> BuiltIn {
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

fn options(fail_fast: bool) -> Options {
    Options {
        ground: Ground::Direct(FactsFrom::Embedded),
        seed: 0,
        parallel: 4,
        repeat: 1,
        fail_fast,
        settle: Duration::ZERO,
        time_budget: Duration::from_secs(30),
        waivers: Vec::new(),
        started_at: "2026-01-01T00:00:00Z".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        command: "cargo test -p garden-admission".to_owned(),
        expression: vec![format!("component {COMPONENT}")],
    }
}
