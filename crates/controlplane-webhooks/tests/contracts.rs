//! The contracts of a provider's webhooks, asked of ours in process: no socket, no TLS, no file.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use conformance::report::{Report, Status};
use conformance::run::{FactsFrom, Ground, Interrupt, Options, run};
use conformance::target::built_in::{BuiltIn, Component, Ingredients};
use contract::model::Catalog;
use controlplane_webhooks::config::file::from_value;
use controlplane_webhooks::registrations::{Address, registration};
use controlplane_webhooks::serving::webhooks;

const COMPONENT: &str = "controlplane";

#[tokio::test(start_paused = true)]
async fn every_contract_is_kept_and_proven_able_to_fail() {
    for csi in [true, false] {
        let mut contracts = Catalog::embedded().expect("the contracts are well-formed").contracts;
        contracts.retain(|contract| contract.component == COMPONENT);
        if !csi {
            // What depends on it; the others say the same of both.
            for contract in &mut contracts {
                contract.clauses.retain(|clause| clause.needs.iter().any(|need| need == "not csi"));
            }
            contracts.retain(|contract| !contract.clauses.is_empty());
        }
        let number = contracts.len();
        let target = Arc::new(target(csi));
        let report = run(contracts.into(), target, &options(), &|_| {}, &Interrupt::default()).await;
        assert_eq!(report.environment_errors, Vec::<String>::new());
        assert_eq!(report.contracts.len(), number);
        let failures = failures(&report);
        assert!(failures.is_empty(), "{} findings:\n{}", failures.len(), failures.join("\n"));
    }
}

/// What is not as it should be, one line each; a feature that is off is no finding.
fn failures(report: &Report) -> Vec<String> {
    let mut lines = Vec::new();
    for contract in &report.contracts {
        for clause in &contract.clauses {
            let wrong = |status| !matches!(status, Status::Passed | Status::NotSupported);
            for case in clause.cases.iter().filter(|case| wrong(case.status)) {
                let reason = case.reason.as_ref().map(|reason| reason.text.as_str()).unwrap_or_default();
                lines.push(format!("{}/{}: {:?} {reason}", clause.id, case.name, case.status));
                let checks = case.checks.iter();
                lines.extend(checks.map(|check| {
                    format!("    {} {}: want {}, got {}", check.part, check.path, check.want, check.got)
                }));
            }
            let is_asked = clause.cases.iter().any(|case| case.status == Status::Passed);
            let unproven = clause.proof.iter().filter(|proof| is_asked && !proof.proven);
            lines.extend(unproven.map(|proof| {
                let survivors: Vec<&String> = proof.survivors.iter().map(|damage| &damage.text).collect();
                format!("{}: not proven able to fail: {survivors:?} {:?}", clause.id, proof.undamaged)
            }));
        }
        let broken =
            contract.laws.iter().flat_map(|law| law.broken.iter().map(move |breach| (law.law, breach)));
        lines.extend(broken.map(|(law, breach)| {
            format!("{}: {law:?} broken by {}: {}", contract.name, breach.case, breach.text)
        }));
        lines.extend(
            contract.gaps.iter().map(|gap| format!("{}: no case would miss {}", contract.name, gap.path)),
        );
        lines.extend(contract.unexplained.iter().map(|change| {
            format!("{}: unexplained {} became {}", contract.name, change.path, change.became)
        }));
    }
    lines
}

fn target(csi: bool) -> BuiltIn {
    let features = if csi { BTreeSet::from(["csi".to_owned()]) } else { BTreeSet::new() };
    BuiltIn::new("controlplane-webhooks", "v1.82.0", features, move |ingredients| {
        std::future::ready(make(ingredients, csi))
    })
}

fn make(ingredients: Ingredients, csi: bool) -> Result<Component, String> {
    let mut config = ingredients.config;
    config["csi"] = csi.into();
    let (config, _) = from_value(&config).map_err(|error| error.to_string())?;
    let client = ingredients.facts.ok_or("it needs a cluster")?.client;
    let address = Address::Service { namespace: "extension-provider-local".to_owned(), port: 443 };
    let registrations = registration(&config, &address, None).into_iter().collect();
    let service = webhooks(&Arc::new(config), &client);
    Ok(Component { service, registrations, metrics: Box::new(String::new), guard: Box::new(()) })
}

fn options() -> Options {
    Options {
        ground: Ground::Direct(FactsFrom::Embedded),
        seed: 0,
        parallel: 4,
        repeat: 1,
        fail_fast: false,
        settle: Duration::from_secs(2),
        time_budget: Duration::from_secs(30),
        waivers: Vec::new(),
        started_at: "2026-01-01T00:00:00Z".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        command: "cargo test -p controlplane-webhooks".to_owned(),
        expression: vec![format!("component {COMPONENT}")],
    }
}
