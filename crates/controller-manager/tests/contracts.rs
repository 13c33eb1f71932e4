//! The contracts of this component, asked of it in process: no socket, no TLS, no file.

mod outside;
mod process;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use conformance::report::{Status, Verdict};
use conformance::run::{Event, FactsFrom, Ground, Interrupt, Options, run};
use conformance::target::built_in::{BuiltIn, Component, Ingredients, Loaded};
use contract::model::Contract;
use controller::Entropy;
use gardener_controller_manager::config::file;
use gardener_controller_manager::controllers::Running;
use serde_json::Value;
use webhook::service::{Limits, service};

const COMPONENT: &str = "controller-manager";

#[tokio::test(start_paused = true)]
async fn every_contract_is_kept_and_proven_able_to_fail() {
    let contracts = contracts::of_component(COMPONENT).expect("the contracts are well-formed");
    assert_eq!(contracts.len(), 5);
    let contracts: Arc<[Contract]> = contracts.into();
    let report =
        run(contracts, Arc::new(target()), &options(), &|_: Event<'_>| {}, &Interrupt::default()).await;
    assert_eq!(report.environment_errors, Vec::<String>::new());
    let clauses = report.contracts.iter().flat_map(|contract| &contract.clauses);
    let wrong = clauses.filter(|clause| {
        clause.cases.iter().any(|case| case.status != Status::Passed)
            || clause.proof.as_ref().is_none_or(|proof| !proof.proven)
    });
    assert_eq!(wrong.map(|clause| clause.id.as_str()).collect::<Vec<_>>(), Vec::<&str>::new());
    assert_eq!(report.verdict, Verdict::Conformant);
}

fn target() -> BuiltIn {
    BuiltIn::new(COMPONENT, env!("CARGO_PKG_VERSION"), BTreeSet::new(), make).loading(load)
}

fn load(config: &Value) -> Loaded {
    let (config, warnings) = file::from_value(config).map_err(|error| error.to_string())?;
    let effective = serde_json::to_value(&config).map_err(|error| error.to_string())?;
    Ok((effective, warnings.iter().map(ToString::to_string).collect()))
}

async fn make(ingredients: Ingredients) -> Result<Component, String> {
    let config = file::from_partial(&ingredients.config).map_err(|error| error.to_string())?;
    let clusters = ingredients.clusters.ok_or("it needs a garden")?;
    let running = Arc::new(Running::at(&config, &clusters.source.client, clusters.now, Entropy::seeded(0)));
    let metrics = {
        let running = running.clone();
        move || running.exposition()
    };
    Ok(Component {
        service: service(Vec::new(), Limits::default()),
        registrations: Vec::new(),
        metrics: Box::new(metrics),
        guard: Box::new(running),
    })
}

fn options() -> Options {
    Options {
        ground: Ground::Direct(FactsFrom::Embedded),
        seed: 0,
        parallel: 2,
        repeat: 1,
        fail_fast: false,
        settle: Duration::ZERO,
        time_budget: Duration::from_secs(30),
        strict: false,
        waivers: Vec::new(),
        started_at: "2026-01-01T00:00:00Z".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        command: "cargo test -p gardener-controller-manager".to_owned(),
        expression: vec![format!("component {COMPONENT}")],
    }
}
