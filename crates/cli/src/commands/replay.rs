//! `replay`: asks a target again what was recorded, offline.

use conformance::recording::SUITE;

use super::verify;
use crate::arguments::{ReplayArguments, Selection};
use crate::catalog;
use crate::terminal::{Failure, Terminal};

/// Verifies the cases of a recording, or what is selected of them.
pub(crate) fn replay(
    arguments: &ReplayArguments,
    added: Option<&std::path::Path>,
    terminal: &Terminal,
) -> Result<u8, Failure> {
    let folder = &arguments.folder;
    if added.is_some() {
        return Err(Failure::usage(
            "--contracts: a recording is asked alone; leave it out, or say verify --contracts",
        ));
    }
    let is_recording = catalog::suites(Some(folder))?.iter().any(|suite| suite.metadata.name == SUITE);
    if !is_recording {
        let remedy = "name the folder that `record` wrote";
        return Err(Failure::usage(format!("{} holds no recording; {remedy}", folder.display())));
    }
    let mut wanted = arguments.verify.clone();
    let Selection { suite, contract, clause, case, .. } = &wanted.selection;
    if [suite, contract, clause, case].iter().all(|named| named.is_empty()) {
        wanted.selection.suite.push(SUITE.to_owned());
    }
    verify::verify(&wanted, Some(folder), terminal)
}
