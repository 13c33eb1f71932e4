//! `replay`: sends recorded requests to a target again, without the cluster.

use conformance::recording::SUITE;

use super::verify;
use crate::arguments::{ReplayArguments, Selection};
use crate::catalog;
use crate::ending::Ending;
use crate::terminal::{Failure, Terminal};

/// Verifies the cases of a recording, or those that the flags select.
pub(crate) fn replay(
    arguments: &ReplayArguments,
    added: Option<&std::path::Path>,
    terminal: &Terminal,
) -> Result<Ending, Failure> {
    let folder = &arguments.folder;
    if added.is_some() {
        return Err(Failure::usage(
            "--contracts: replay runs the recording only; leave the flag out, or use `verify --contracts`",
        ));
    }
    let suites = match catalog::suites(Some(folder)) {
        // An empty folder.
        Err(failure) if failure.code == 4 => Vec::new(),
        suites => suites?,
    };
    if !suites.iter().any(|suite| suite.metadata.name == SUITE) {
        let remedy = "name the folder that `record` wrote";
        return Err(Failure::usage(format!("{} contains no recording; {remedy}", folder.display())));
    }
    let mut verify_arguments = arguments.verify.clone();
    let Selection { suite, contract, clause, case, .. } = &verify_arguments.cases.selection;
    if [suite, contract, clause, case].iter().all(|names| names.is_empty()) {
        verify_arguments.cases.selection.suite.push(SUITE.to_owned());
    }
    verify::verify(&verify_arguments, Some(folder), terminal)
}
