//! Shared by tests about versions: runs a contract, and lists the results of its cases.

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use conformance::gardener::Versions;
use conformance::report::{Check, Report, Status};
use conformance::run::{self, Interrupt};
use conformance::target::{Identity, Running, Setup, Target, TargetError, TargetKind};
use contract::document::SourceFile;
use contract::load;
use contract::model::Form;

use crate::direct::options;

/// A garden that a test scripts: how it decides, and what is started for rows on a controller.
#[async_trait]
pub(crate) trait Garden: Versions + Send + Sync {
    /// Starts its controller; without one nothing can be started.
    async fn start(&self, _setup: Setup<'_>) -> Result<Box<dyn Running>, TargetError> {
        Err(TargetError::Configuration { name: "garden".to_owned(), reason: "nothing is started".to_owned() })
    }
}

/// A scripted garden as a target in this process, without features.
struct ScriptedGarden<T>(T);

#[async_trait]
impl<T: Garden> Target for ScriptedGarden<T> {
    fn identity(&self) -> Identity {
        let endpoint = "in process".to_owned();
        Identity { name: "garden".to_owned(), version: None, kind: TargetKind::BuiltIn, endpoint }
    }

    fn features(&self) -> BTreeSet<String> {
        BTreeSet::new()
    }

    fn supports(&self, _component: &str, _form: Form) -> bool {
        true
    }

    fn is_outside(&self) -> bool {
        false
    }

    fn versions(&self) -> Option<&dyn Versions> {
        Some(&self.0)
    }

    async fn start(&self, setup: Setup<'_>) -> Result<Box<dyn Running>, TargetError> {
        self.0.start(setup).await
    }
}

/// Runs a contract, which may use our fixtures, for a garden.
pub(crate) async fn run_contract(contract: &str, garden: impl Garden + 'static) -> Report {
    let fixtures = contracts::files().into_iter().filter(|file| file.path.contains("/fixtures/"));
    let sources: Vec<SourceFile> =
        fixtures.chain([SourceFile::new("contracts/sample.yaml", contract)]).collect();
    let loaded = load::read(&sources);
    assert!(loaded.errors.is_empty(), "{:?}", loaded.errors);
    let contracts = loaded.catalog.contracts.into();
    run::run(contracts, Arc::new(ScriptedGarden(garden)), &options(), &|_| {}, &Interrupt::default()).await
}

/// Names of cases and their statuses.
pub(crate) fn statuses(report: &Report) -> Vec<(&str, Status)> {
    let clauses = report.contracts.iter().flat_map(|contract| &contract.clauses);
    clauses.flat_map(|clause| &clause.cases).map(|case| (case.name.as_str(), case.status)).collect()
}

/// The failed checks, case by case.
pub(crate) fn failures(report: &Report) -> Vec<&Check> {
    let clauses = report.contracts.iter().flat_map(|contract| &contract.clauses);
    clauses.flat_map(|clause| &clause.cases).flat_map(|case| &case.checks).collect()
}
