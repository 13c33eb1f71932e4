//! `list` and `explain`: print contracts and clauses.

use std::path::Path;

use conformance::render::list::{Listed, ListedClause};
use conformance::select::Selection;
use conformance::{render, report};

use crate::arguments::{ExplainArguments, Format, ListArguments};
use crate::catalog;
use crate::catalog::Selected;
use crate::ending::Ending;
use crate::terminal::{Failure, Terminal, Verbosity};

/// Lists contracts and clauses; with -v cases too.
pub(crate) fn list(
    arguments: &ListArguments,
    added: Option<&Path>,
    terminal: &Terminal,
) -> Result<Ending, Failure> {
    let selected = Selected::of(added, &arguments.selection.clone().into(), false, false)?;
    let lists_cases = terminal.verbosity == Verbosity::Verbose || !selected.has_every_case();
    let listed = if lists_cases { with_cases(&selected)? } else { without_cases(&selected) };
    terminal.print(&match arguments.output {
        Format::Json => format!("{:#}", render::list::list_json(&listed)),
        Format::Text | Format::Markdown => render::list::list(&listed, &terminal.view(None)),
    });
    Ok(Ending::done())
}

/// The list without the names of cases, which needs no expansion.
fn without_cases(selected: &Selected) -> Vec<Listed> {
    let contracts = selected.outlines().map(|contract| {
        let clauses = contract.clauses.iter().filter(|clause| selected.has_clause(contract, &clause.id));
        let clauses = clauses.map(|clause| ListedClause {
            id: clause.id.clone(),
            level: clause.level,
            text: clause.text.clone(),
            cases: clause.cases,
            names: Vec::new(),
        });
        let (component, name) = (contract.component.clone(), contract.name.clone());
        Listed { component, name, clauses: clauses.collect() }
    });
    contracts.collect()
}

fn with_cases(selected: &Selected) -> Result<Vec<Listed>, Failure> {
    let contracts = selected.expand_all().map(|contract| {
        let contract = contract?;
        let clauses = contract.clauses.into_iter().map(|clause| ListedClause {
            cases: Some(clause.cases.len()),
            names: clause.cases.into_iter().map(|case| case.name).collect(),
            id: clause.id,
            level: clause.level,
            text: clause.text,
        });
        Ok(Listed { clauses: clauses.collect(), component: contract.component, name: contract.name })
    });
    contracts.collect()
}

/// Prints a clause, with its result in the last report if there is one.
pub(crate) fn explain(
    arguments: &ExplainArguments,
    added: Option<&Path>,
    terminal: &Terminal,
) -> Result<Ending, Failure> {
    let id = arguments.clause.to_uppercase();
    let selection = Selection { clauses: vec![id.clone()], ..Selection::default() };
    let index = catalog::index_for(added, &selection, false)?;
    let found = index.clauses().find(|(_, clause)| clause.id.eq_ignore_ascii_case(&id));
    let Some((outline, found)) = found else {
        let near = render::explain::near(index.contracts(), &arguments.clause).join(", ");
        let hint = if near.is_empty() {
            "`gardener-conformance list` prints the clauses".to_owned()
        } else {
            format!("did you mean {near}?")
        };
        return Err(Failure::usage(format!("there is no clause {}; {hint}", arguments.clause)));
    };
    let contract = index.expand_some(outline, &|id| id == found.id).map_err(Failure::diagnostic)?;
    let attestations = catalog::records(&index)?.attestations;
    let last = match report::read(&arguments.report) {
        Ok(report) => Some(report),
        Err(error) if error.is_missing() => None,
        Err(error) => return Err(Failure::usage(error.to_string())),
    };
    for clause in &contract.clauses {
        let (explained, last) = ((&contract, clause), last.as_ref());
        terminal.print(&match arguments.output {
            Format::Json => format!("{:#}", render::explain::explain_json(explained, last, &attestations)),
            Format::Text | Format::Markdown => {
                render::explain::explain(explained, last, &attestations, &terminal.view(None))
            }
        });
    }
    Ok(Ending::done())
}
