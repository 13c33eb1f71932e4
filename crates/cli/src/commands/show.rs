//! `list` and `explain`: what there is to keep, and why.

use std::path::Path;

use conformance::{render, report};

use crate::arguments::{ExplainArguments, ListArguments};
use crate::terminal::{Failure, Terminal};
use crate::{catalog, session};

/// Lists contracts and clauses; with -v cases too.
pub(crate) fn list(
    arguments: &ListArguments,
    added: Option<&Path>,
    terminal: &Terminal,
) -> Result<u8, Failure> {
    let loaded = catalog::load(added)?;
    let contracts = session::selected(&loaded, added, &arguments.selection.clone().into())?;
    terminal.print(&render::list::list(&contracts, &terminal.view(None)));
    Ok(0)
}

/// Tells a clause; what the last run found of it where there was one.
pub(crate) fn explain(
    arguments: &ExplainArguments,
    added: Option<&Path>,
    terminal: &Terminal,
) -> Result<u8, Failure> {
    let loaded = catalog::load(added)?;
    let last = report::read(&arguments.report).ok();
    let told = render::explain::explain(
        &loaded.catalog,
        &arguments.clause,
        last.as_ref(),
        &loaded.attestations,
        &terminal.view(None),
    );
    let told = told.ok_or_else(|| {
        let near = render::explain::near(&loaded.catalog, &arguments.clause).join(", ");
        let hint = if near.is_empty() {
            "`gardener-conformance list` names them".to_owned()
        } else {
            format!("did you mean {near}?")
        };
        Failure::usage(format!("there is no clause {}; {hint}", arguments.clause))
    })?;
    terminal.print(&told);
    Ok(0)
}
