//! Shared by tests about versions: runs a contract, and lists the results of its cases.

use std::sync::Arc;

use conformance::report::{Report, Status};
use conformance::run::{self, Interrupt};
use conformance::target::{Identity, Target, TargetKind};
use contract::document::SourceFile;
use contract::load;

use crate::direct::options;

/// The identity of a scripted garden.
pub(crate) fn garden() -> Identity {
    let endpoint = "in process".to_owned();
    Identity { name: "garden".to_owned(), version: None, kind: TargetKind::BuiltIn, endpoint }
}

/// Runs a contract, which may use our fixtures, for a target.
pub(crate) async fn run_contract(contract: &str, target: impl Target + 'static) -> Report {
    let fixtures = contracts::files().into_iter().filter(|file| file.path.contains("/fixtures/"));
    let sources: Vec<SourceFile> =
        fixtures.chain([SourceFile::new("contracts/sample.yaml", contract)]).collect();
    let loaded = load::read(&sources);
    assert!(loaded.errors.is_empty(), "{:?}", loaded.errors);
    let contracts = loaded.catalog.contracts.into();
    run::run(contracts, Arc::new(target), &options(), &|_| {}, &Interrupt::default()).await
}

/// Names of cases and their statuses.
pub(crate) fn statuses(report: &Report) -> Vec<(&str, Status)> {
    let clauses = report.contracts.iter().flat_map(|contract| &contract.clauses);
    clauses.flat_map(|clause| &clause.cases).map(|case| (case.name.as_str(), case.status)).collect()
}
