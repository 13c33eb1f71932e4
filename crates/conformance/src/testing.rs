//! Runs contracts in the tests of a component crate: against the component in process, or against its program.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use component::Component;
use contract::model::{Clause, Contract, Form};

use crate::report::{CaseResult, ClauseResult, ContractResult, Report, Status, Verdict};
use crate::run::{Event, FactsFrom, Ground, Interrupt, Options, run};
use crate::target::Target;
use crate::target::built_in::BuiltIn;

/// Set by `cargo xtask mutants`, which only needs to know whether a case fails.
const FAIL_FAST: &str = "FAIL_FAST";

/// Asserts that a component keeps contracts in process: no socket, no TLS, no file. `crate_folder` is its `CARGO_MANIFEST_DIR`.
///
/// For mutants the contract of the module that was written last comes first, and its first failure ends the test.
///
/// # Panics
/// With every finding, one a line.
pub async fn assert_keeps(component: &'static Component, contracts: Vec<Contract>, crate_folder: &str) {
    let is_hasty = std::env::var_os(FAIL_FAST).is_some();
    let first = is_hasty.then(|| module_written_last(&Path::new(crate_folder).join("src"))).flatten();
    let mut contracts = contracts;
    // A scenario takes long, and a webhook's code is tested without one.
    let is_webhook = first.as_ref().is_some_and(|names| names.first().is_some_and(|part| part == "webhooks"));
    contracts.retain(|contract| !is_webhook || contract.form != Form::Scenario);
    let is_first = |contract: &Contract| first.as_ref().is_some_and(|names| names.contains(&contract.name));
    let (first, others): (Vec<_>, Vec<_>) = contracts.into_iter().partition(is_first);
    for contracts in [first, others].into_iter().filter(|contracts| !contracts.is_empty()) {
        assert_kept(contracts, Arc::new(BuiltIn::of(component))).await;
    }
}

/// Asserts that a target keeps contracts: every case passes, every clause is proven able to fail, no law is broken, no change is
/// unexplained, and no change would go unnoticed. A clause that needs the absence of a feature which the target has is left out.
///
/// # Panics
/// With every finding, one a line.
pub async fn assert_kept(contracts: Vec<Contract>, target: Arc<dyn Target>) {
    let number = contracts.len();
    assert!(number > 0, "there is no contract to run");
    let unneeded: BTreeSet<String> =
        target.features().iter().map(|feature| format!("not {feature}")).collect();
    let is_excluded = |clause: &Clause| clause.needs.iter().any(|need| unneeded.contains(need));
    let clauses = contracts.iter().flat_map(|contract| &contract.clauses);
    let excluded: BTreeSet<String> =
        clauses.filter(|clause| is_excluded(clause)).map(|clause| clause.id.clone()).collect();
    let report = run(contracts.into(), target, &options(), &first_failure_ends, &Interrupt::default()).await;
    assert_eq!(report.environment_errors, Vec::<String>::new());
    let found: Vec<String> =
        report.contracts.iter().flat_map(|contract| of_contract(contract, &excluded)).collect();
    assert!(found.is_empty(), "{} findings:\n{}", found.len(), found.join("\n"));
    assert_eq!((report.contracts.len(), report.verdict), (number, Verdict::Conformant));
}

/// Options for running contracts in tests: directly, facts in an embedded API server, scenarios in virtual time.
#[must_use]
pub fn options() -> Options {
    Options {
        ground: Ground::Direct(FactsFrom::Embedded),
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
    if clause.cases.iter().any(|case| case.status == Status::Passed) {
        match &clause.proof {
            Some(proof) if proof.proven => {}
            Some(proof) => {
                let survivors: Vec<&String> = proof.survivors.iter().map(|damage| &damage.text).collect();
                lines.push(format!(
                    "{}: not proven able to fail: {survivors:?} {:?}",
                    clause.id, proof.undamaged
                ));
            }
            None => lines.push(format!("{}: not proven able to fail", clause.id)),
        }
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

/// With [`FAIL_FAST`] the first case that fails ends the test: no other case runs, nothing is proven.
#[expect(clippy::needless_pass_by_value, reason = "a run passes it so")]
fn first_failure_ends(event: Event<'_>) {
    if let Event::Case { id, status: Status::Failed | Status::Errored, .. } = event {
        assert!(std::env::var_os(FAIL_FAST).is_none(), "{id} failed");
    }
}

/// Possible names of the contract for the newest source file: the names of the file and of its folders.
fn module_written_last(sources: &Path) -> Option<Vec<String>> {
    let mut newest: Option<(SystemTime, std::path::PathBuf)> = None;
    let mut folders = vec![sources.to_owned()];
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path()) {
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let written = path.metadata().and_then(|of| of.modified()).ok()?;
            if newest.as_ref().is_none_or(|(time, _)| *time < written) {
                newest = Some((written, path));
            }
        }
    }
    let (_, path) = newest?;
    let modules = path.strip_prefix(sources).ok()?.with_extension("");
    Some(modules.iter().map(|module| module.to_string_lossy().replace('_', "-")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_contract_of_the_module_that_was_written_last_is_found_by_its_path() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("webhooks/pod_zone_affinity")).unwrap();
        let file = |name: &str, age: u64| {
            let file = std::fs::File::create(folder.path().join(name)).unwrap();
            file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(age)).unwrap();
        };
        file("lib.rs", 1);
        file("webhooks/pod_zone_affinity/terms.rs", 3);
        file("webhooks/seccomp_profile.rs", 2);
        let names = module_written_last(folder.path()).unwrap();
        assert_eq!(names, ["webhooks", "pod-zone-affinity", "terms"]);
    }
}
