//! Runs contracts in the tests of a component crate: against the component in process, or against its program.

pub mod garden_process;
pub mod process;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use component::Component;
use contract::gardener::plugins;
use contract::model::{Clause, Contract, Form};

use crate::report::{CaseResult, ClauseResult, ContractResult, Report, Status, Verdict};
use crate::run::{Event, FactsFrom, Interrupt, Options, Substrate, run};
use crate::select;
use crate::target::Target;
use crate::target::built_in::BuiltIn;

/// Set by `cargo xtask mutants`, which only needs to know whether a case fails: the changed file, below `src` of the component.
const MUTATED_MODULE: &str = "MUTATED_MODULE";

/// Set by whoever wants every case instead of one of each clause.
const WHOLE: &str = "CONTRACTS_WHOLE";

/// Chooses the case of each clause.
const SAMPLE: u64 = 1;

/// Asserts that a component keeps contracts in process: no socket, no TLS, no file. Asks one case of each clause, since `run`
/// asks all of them, or every case with `CONTRACTS_WHOLE=1`.
///
/// For mutants every case counts: the contract of the changed module runs first, and the first case that fails ends the test.
///
/// # Panics
/// With every finding, one a line.
pub async fn assert_keeps(component: &'static Component, contracts: Vec<Contract>) {
    let first = std::env::var_os(MUTATED_MODULE).map(|file| names_of_contracts(&file.to_string_lossy()));
    let mut contracts = contracts;
    if first.is_none() && std::env::var_os(WHOLE).is_none() {
        for contract in &mut contracts {
            select::sample(contract, SAMPLE);
        }
    }
    contracts.retain(|contract| contract.form != Form::Process);
    // A scenario takes long, and a webhook's code is tested without one.
    let is_webhook = first.as_ref().is_some_and(|names| names.first().is_some_and(|part| part == "webhooks"));
    contracts.retain(|contract| !is_webhook || contract.form != Form::Scenario);
    let is_first = |contract: &Contract| first.as_ref().is_some_and(|names| names.contains(&contract.name));
    let (first, others): (Vec<_>, Vec<_>) = contracts.into_iter().partition(is_first);
    for contracts in [first, others].into_iter().filter(|contracts| !contracts.is_empty()) {
        assert_kept(contracts, Arc::new(BuiltIn::of(component))).await;
    }
}

/// Asserts that the program of a component keeps the contracts about its process. `command` starts it, such as
/// `[env!("CARGO_BIN_EXE_gardener-x")]`; real time passes.
///
/// # Panics
/// With every finding, one a line.
pub async fn assert_process_keeps(
    component: &'static Component,
    mut contracts: Vec<Contract>,
    command: &str,
) {
    contracts.retain(|contract| contract.form == Form::Process);
    let target = BuiltIn::of(component).with_program(component, vec![command.to_owned()]);
    assert_kept(contracts, Arc::new(target)).await;
}

/// Asserts that a target keeps contracts: every case passes, every clause is proven able to fail, no law is broken, no change is
/// unexplained, and no change would go unnoticed. A clause that needs the absence of a feature which the target has is left out.
///
/// # Panics
/// With every finding, one a line.
pub async fn assert_kept(contracts: Vec<Contract>, target: Arc<dyn Target>) {
    assert_kept_on(options().substrate, contracts, target).await;
}

/// As [`assert_kept`], on a substrate. A clause with a reason not to run there, or about admission plugins that the substrate does
/// not have, is left out. Returns the report.
///
/// # Panics
/// As [`assert_kept`].
pub async fn assert_kept_on(
    substrate: Substrate,
    contracts: Vec<Contract>,
    target: Arc<dyn Target>,
) -> Report {
    let number = contracts.len();
    assert!(number > 0, "there is no contract to run");
    let unneeded: BTreeSet<String> =
        target.features().iter().map(|feature| format!("not {feature}")).collect();
    let is_excluded = |contract: &Contract, clause: &Clause| {
        clause.needs.iter().any(|need| unneeded.contains(need))
            || clause.not_on.contains_key(substrate.name())
            || is_about_missing_plugins(contract, clause, substrate.name())
    };
    let mut excluded: BTreeSet<String> = BTreeSet::new();
    for contract in &contracts {
        let left_out = contract.clauses.iter().filter(|clause| is_excluded(contract, clause));
        excluded.extend(left_out.map(|clause| clause.id.clone()));
    }
    let options = Options { substrate, ..options() };
    let report = run(contracts.into(), target, &options, &first_failure_ends, &Interrupt::default()).await;
    assert_eq!(report.environment_errors, Vec::<String>::new());
    let found: Vec<String> =
        report.contracts.iter().flat_map(|contract| of_contract(contract, &excluded)).collect();
    assert!(found.is_empty(), "{} findings:\n{}", found.len(), found.join("\n"));
    assert_eq!((report.contracts.len(), report.verdict), (number, Verdict::Conformant));
    report
}

fn is_about_missing_plugins(contract: &Contract, clause: &Clause, substrate: &str) -> bool {
    let mut configs = clause.cases.iter().map(|case| &case.config).peekable();
    configs.peek().is_some()
        && configs.all(|config| plugins::are_missing(&contract.component, config, substrate))
}

/// Options for running contracts in tests: directly, facts in an embedded API server, scenarios in virtual time.
#[must_use]
pub fn options() -> Options {
    Options {
        substrate: Substrate::Direct(FactsFrom::Embedded),
        seed: 0,
        parallel: 4,
        repeat: 1,
        fail_fast: false,
        settle: Duration::from_secs(2),
        time_budget: Duration::from_secs(30),
        strict: false,
        waivers: Vec::new(),
        started_at: "2026-01-01T00:00:00Z".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        command: "cargo test".to_owned(),
        expression: Vec::new(),
    }
}

/// All findings in a report, one a line.
#[must_use]
pub fn findings(report: &Report) -> Vec<String> {
    report.contracts.iter().flat_map(|contract| of_contract(contract, &BTreeSet::new())).collect()
}

fn of_contract(contract: &ContractResult, excluded: &BTreeSet<String>) -> Vec<String> {
    let name = &contract.name;
    let clauses = contract.clauses.iter().filter(|clause| !excluded.contains(&clause.id));
    let mut lines: Vec<String> = clauses.flat_map(of_clause).collect();
    let broken = contract.laws.iter().flat_map(|law| law.broken.iter().map(move |breach| (law.law, breach)));
    lines.extend(
        broken.map(|(law, breach)| format!("{name}: {law:?} broken by {}: {}", breach.case, breach.text)),
    );
    lines.extend(contract.gaps.iter().map(|gap| format!("{name}: no case would miss {}", gap.path)));
    let unexplained = contract.unexplained.iter();
    lines.extend(
        unexplained.map(|change| format!("{name}: unexplained {} became {}", change.path, change.became)),
    );
    lines
}

fn of_clause(clause: &ClauseResult) -> Vec<String> {
    let mut lines: Vec<String> = clause.cases.iter().flat_map(|case| of_case(&clause.id, case)).collect();
    if clause.cases.is_empty() {
        lines.push(format!("{}: no case ran", clause.id));
    }
    let passed = clause.cases.iter().any(|case| case.status == Status::Passed);
    if passed && clause.is_unproven() {
        let proof = clause.proof.iter();
        let survivors: Vec<&String> =
            proof.clone().flat_map(|proof| &proof.survivors).map(|damage| &damage.text).collect();
        let undamaged: Vec<&String> = proof.flat_map(|proof| &proof.undamaged).collect();
        lines.push(format!("{}: not proven able to fail: {survivors:?} {undamaged:?}", clause.id));
    }
    lines
}

fn of_case(clause: &str, case: &CaseResult) -> Vec<String> {
    if case.status == Status::Passed {
        return Vec::new();
    }
    let text = case.reason.as_ref().map(|reason| reason.text.as_str()).unwrap_or_default();
    let mut lines = vec![format!("{clause}/{}: {:?} {text}", case.name, case.status)];
    lines.extend(
        case.checks.iter().map(|check| {
            format!("    {} {}: want {}, got {}", check.part, check.path, check.want, check.got)
        }),
    );
    lines
}

/// With [`MUTATED_MODULE`] the first case that fails ends the test: no other case runs, nothing is proven.
#[expect(clippy::needless_pass_by_value, reason = "a run passes it so")]
fn first_failure_ends(event: Event<'_>) {
    if let Event::Case { id, status: Status::Failed | Status::Errored, .. } = event {
        assert!(std::env::var_os(MUTATED_MODULE).is_none(), "{id} failed");
    }
}

/// The names that the contract of a source file may have: those of the file and of its folders.
fn names_of_contracts(file: &str) -> Vec<String> {
    let modules = Path::new(file).with_extension("");
    modules.iter().map(|module| module.to_string_lossy().replace('_', "-")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_contract_is_named_after_the_module_or_its_folder() {
        let names = names_of_contracts("webhooks/pod_zone_affinity/terms.rs");
        assert_eq!(names, ["webhooks", "pod-zone-affinity", "terms"]);
    }
}
