//! `verify` and `attest`: a URL, a binary or a target file, without a cluster or with the one it reads.

use std::path::Path;

use conformance::run::{FactsFrom, Ground};
use conformance::target::Facts;
use conformance::{attest as attesting, report};
use contract::load::Loaded;

use crate::arguments::{AttestArguments, VerifyArguments};
use crate::terminal::{Failure, Terminal};
use crate::{catalog, session, targets};

/// Verifies and prints the verdict.
pub(crate) fn verify(
    arguments: &VerifyArguments,
    added: Option<&Path>,
    terminal: &Terminal,
) -> Result<u8, Failure> {
    let loaded = catalog::load(added)?;
    let report = report(arguments, &loaded, terminal)?;
    session::print(&report, &arguments.execution, terminal);
    Ok(report.exit_code())
}

/// Verifies a foreign implementation and records which clauses it keeps.
pub(crate) fn attest(
    arguments: &AttestArguments,
    added: Option<&Path>,
    terminal: &Terminal,
) -> Result<u8, Failure> {
    let loaded = catalog::load(added)?;
    let report = report(&arguments.verify, &loaded, terminal)?;
    session::print(&report, &arguments.verify.execution, terminal);
    let draft = attesting::draft(&loaded.catalog, &report);
    let text = draft
        .to_yaml()
        .map_err(|error| Failure::environment(format!("failed to write the attestation: {error}")))?;
    let written = report::write(&arguments.into, &draft.file, &text)
        .map_err(|error| Failure::environment(error.to_string()))?;
    terminal.note(&format!("wrote {}", written.display()));
    for clause in &draft.unstated {
        terminal.note(&format!("{clause} is broken by the target and the contract states no difference"));
    }
    for clause in &draft.kept_though_stated {
        terminal.note(&format!("{clause} is kept though the contract states a difference"));
    }
    let settled = draft.unstated.is_empty() && draft.kept_though_stated.is_empty();
    Ok(match report.exit_code() {
        // Stated differences are failures of the target, and no reason to refuse the record.
        1 if settled => 0,
        0 if !settled => 5,
        code => code,
    })
}

fn report(
    arguments: &VerifyArguments,
    loaded: &Loaded,
    terminal: &Terminal,
) -> Result<report::Report, Failure> {
    let selection = arguments.selection.clone().into();
    let contracts = session::selected(loaded, &selection)?;
    let target = targets::named(arguments)?;
    let ground = async { facts(arguments).await.map(Ground::Direct) };
    let command = format!("gardener-conformance verify --target '{}'", arguments.target);
    session::run(&contracts, target.as_ref(), ground, (&arguments.execution, &selection, &command), terminal)
}

/// Where facts are written: the given cluster; for a started binary an API server of this process; else nowhere.
async fn facts(arguments: &VerifyArguments) -> Result<FactsFrom, Failure> {
    let Some(path) = &arguments.kubeconfig else {
        return Ok(if targets::is_started(arguments) { FactsFrom::Embedded } else { FactsFrom::Nowhere });
    };
    let client =
        substrate::kubeconfig::client(path).await.map_err(|error| Failure::environment(error.to_string()))?;
    Ok(FactsFrom::Given(Facts { client, kubeconfig: Some(path.clone()) }))
}
