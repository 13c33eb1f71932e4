//! `list` and `explain`: what there is to keep, and why.

use std::path::Path;

use conformance::render::list::{Listed, ListedClause};
use conformance::select::Selection;
use conformance::{render, report};

use crate::arguments::{ExplainArguments, ListArguments};
use crate::catalog;
use crate::catalog::Selected;
use crate::terminal::{Failure, Telling, Terminal};

/// Lists contracts and clauses; with -v cases too.
pub(crate) fn list(
    arguments: &ListArguments,
    added: Option<&Path>,
    terminal: &Terminal,
) -> Result<u8, Failure> {
    let selected = Selected::of(added, &arguments.selection.clone().into(), false, false)?;
    let names_cases = terminal.telling == Telling::Cases || !selected.has_every_case();
    let listed = if names_cases { with_cases(&selected)? } else { without_cases(&selected) };
    terminal.print(&render::list::list(&listed, &terminal.view(None)));
    Ok(0)
}

/// What can be told without expanding anything.
fn without_cases(selected: &Selected) -> Vec<Listed> {
    let contracts = selected.outlines().map(|contract| {
        let wanted = contract.clauses.iter().filter(|clause| selected.has(contract, &clause.id));
        let clauses = wanted.map(|clause| ListedClause {
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
    let contracts = selected.each().map(|contract| {
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

/// Tells a clause; what the last run found of it where there was one.
pub(crate) fn explain(
    arguments: &ExplainArguments,
    added: Option<&Path>,
    terminal: &Terminal,
) -> Result<u8, Failure> {
    let written = arguments.clause.to_uppercase();
    let wish = Selection { clauses: vec![written.clone()], ..Selection::default() };
    let index = catalog::index_for(added, &wish, false)?;
    let known = index.clauses().find(|(_, clause)| clause.id.eq_ignore_ascii_case(&written));
    let Some((outline, known)) = known else {
        let near = render::explain::near(index.contracts(), &arguments.clause).join(", ");
        let hint = if near.is_empty() {
            "`gardener-conformance list` names them".to_owned()
        } else {
            format!("did you mean {near}?")
        };
        return Err(Failure::usage(format!("there is no clause {}; {hint}", arguments.clause)));
    };
    let contract = index.expand_some(outline, &|id| id == known.id).map_err(Failure::diagnostic)?;
    let attestations = catalog::records(&index)?.attestations;
    let last = report::read(&arguments.report).ok();
    for clause in &contract.clauses {
        let view = terminal.view(None);
        terminal.print(&render::explain::explain((&contract, clause), last.as_ref(), &attestations, &view));
    }
    Ok(0)
}
