//! Embeds the contracts and suites of this repository. It is a crate of its own so that an edited contract recompiles
//! no other library.

use contract::document::SourceFile;
use contract::index::Index;
use contract::load::Errors;
use contract::model::Contract;

include!(concat!(env!("OUT_DIR"), "/files.rs"));

/// The files below `contracts/`, by path: `contracts/fixtures/pod.yaml`.
#[must_use]
pub fn files() -> Vec<SourceFile> {
    CONTRACTS.iter().map(|(path, text)| SourceFile::new(*path, *text)).collect()
}

/// The suites of `suites/` and of each component, by path: `suites/smoke.yaml`, `contracts/garden/suite.yaml`.
#[must_use]
pub fn suites() -> Vec<SourceFile> {
    SUITES.iter().map(|(path, text)| SourceFile::new(*path, *text)).collect()
}

/// The contracts of a component with all their cases, for its tests.
///
/// # Errors
/// All errors of the contracts.
pub fn of_component(component: &str) -> Result<Vec<Contract>, Errors> {
    let index = Index::read(files())?;
    index
        .contracts()
        .iter()
        .filter(|contract| contract.component == component)
        .map(|contract| index.expand(contract))
        .collect()
}

/// Every contract with all its cases.
///
/// # Errors
/// All errors of the contracts.
pub fn all() -> Result<Vec<Contract>, Errors> {
    let index = Index::read(files())?;
    index.contracts().iter().map(|contract| index.expand(contract)).collect()
}
