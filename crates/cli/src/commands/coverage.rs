//! `coverage`: counts clauses from the contracts, the ledgers, the last report and the attestations; runs no case.

use std::path::Path;

use conformance::coverage::{Thresholds, coverage as count};
use conformance::report;
use contract::document::attestation::Attested;

use crate::arguments::{CoverageArguments, Format};
use crate::catalog;
use crate::ending::Ending;
use crate::terminal::{Failure, Terminal};

/// Prints the counts; returns 6 if one is below a threshold.
pub(crate) fn coverage(
    arguments: &CoverageArguments,
    added: Option<&Path>,
    terminal: &Terminal,
) -> Result<Ending, Failure> {
    let index = catalog::index(added)?;
    let clauses = index.summaries().map_err(Failure::diagnostic)?;
    let records = catalog::records(&index)?;
    let ledgers = index.ledgers().map_err(Failure::diagnostic)?;
    let last = match report::read(&arguments.report) {
        Ok(report) => Some(report),
        Err(error) if error.is_missing() => {
            terminal.note(&format!(
                "there is no report in {}, so no clause counts as passing or proven",
                arguments.report.display()
            ));
            None
        }
        Err(error) => return Err(Failure::usage(error.to_string())),
    };
    let of_components: Vec<_> = ledgers.ledgers.iter().map(|(ledger, _)| ledger).collect();
    let counts = count(&clauses, last.as_ref(), &of_components, &records);
    terminal.print(&if arguments.output == Format::Json { counts.to_json() } else { counts.to_text() });
    for attestation in &records.attestations {
        let stale = attestation.stale(&clauses);
        if !stale.is_empty() {
            let Attested { name, version, .. } = &attestation.target;
            terminal.note(&format!(
                "clauses that changed since {name} {version} was attested: {}",
                stale.join(", ")
            ));
        }
    }
    let wanted = Thresholds {
        with_cases: arguments.min_with_cases,
        proven: arguments.min_proven,
        attested: arguments.min_attested,
    };
    let shortfalls = counts.shortfalls(wanted);
    for shortfall in &shortfalls {
        terminal.note(shortfall);
    }
    Ok(match shortfalls.as_slice() {
        [] => Ending::new(0, "no threshold is missed"),
        [only] => Ending::new(6, only),
        [first, ..] => {
            Ending::new(6, format!("{first}; {} more thresholds are missed", shortfalls.len() - 1))
        }
    }
    .beside(arguments.output))
}
