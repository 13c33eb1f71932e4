//! What tests about versions share: a contract that is written there, who is asked it, and what the cases became.

use std::sync::Arc;

use conformance::report::{Report, Status};
use conformance::run::{self, Interrupt};
use conformance::target::{Identity, Target, TargetKind};
use contract::document::SourceFile;
use contract::load;

use crate::direct::options;

/// A garden that stands in for one.
pub(crate) fn garden() -> Identity {
    let endpoint = "in process".to_owned();
    Identity { name: "garden".to_owned(), version: None, kind: TargetKind::BuiltIn, endpoint }
}

/// Asks a target a contract, which may name the fixtures of ours.
pub(crate) async fn ask(contract: &str, target: impl Target + 'static) -> Report {
    let fixtures = contracts::files().into_iter().filter(|file| file.path.contains("/fixtures/"));
    let sources: Vec<SourceFile> =
        fixtures.chain([SourceFile::new("contracts/sample.yaml", contract)]).collect();
    let loaded = load::read(&sources);
    assert!(loaded.errors.is_empty(), "{:?}", loaded.errors);
    let contracts = loaded.catalog.contracts.into();
    run::run(contracts, Arc::new(target), &options(), &|_| {}, &Interrupt::default()).await
}

/// Names of cases and what they became.
pub(crate) fn statuses(report: &Report) -> Vec<(&str, Status)> {
    let clauses = report.contracts.iter().flat_map(|contract| &contract.clauses);
    clauses.flat_map(|clause| &clause.cases).map(|case| (case.name.as_str(), case.status)).collect()
}
