//! `run` and `prove`: our own components on a substrate.

use std::path::Path;
use std::sync::Arc;

use conformance::render;
use conformance::run::Ground;

use crate::arguments::{RunArguments, SubstrateName};
use crate::terminal::{Failure, Terminal};
use crate::{catalog, envtest, session, targets};

/// Verifies and prints the verdict.
pub(crate) fn run(
    arguments: &RunArguments,
    added: Option<&Path>,
    terminal: &Terminal,
) -> Result<u8, Failure> {
    let report = report(arguments, added, "gardener-conformance run", terminal)?;
    session::print(&report, &arguments.execution, terminal);
    Ok(report.exit_code())
}

/// Verifies and prints the damages that each clause was shown to catch, or not.
pub(crate) fn prove(
    arguments: &RunArguments,
    added: Option<&Path>,
    terminal: &Terminal,
) -> Result<u8, Failure> {
    let report = report(arguments, added, "gardener-conformance prove", terminal)?;
    terminal.print(&render::proof(&report, &terminal.view(None)));
    Ok(report.exit_code())
}

fn report(
    arguments: &RunArguments,
    added: Option<&Path>,
    command: &str,
    terminal: &Terminal,
) -> Result<conformance::report::Report, Failure> {
    let loaded = catalog::load(added)?;
    let selection = arguments.selection.clone().into();
    let contracts = session::selected(&loaded, &selection)?;
    envtest::fits(&arguments.envtest, arguments.substrate)?;
    let command = match arguments.substrate {
        SubstrateName::Embedded => command.to_owned(),
        SubstrateName::Direct => format!("{command} --substrate direct"),
        SubstrateName::Envtest => format!("{command} --substrate envtest"),
    };
    let ground = async {
        Ok(match arguments.substrate {
            SubstrateName::Embedded => Ground::Embedded,
            SubstrateName::Direct => session::direct(),
            SubstrateName::Envtest => Ground::Envtest(Arc::new(envtest::start(&arguments.envtest).await?)),
        })
    };
    let target = targets::resource_manager();
    session::run(&contracts, &target, ground, (&arguments.execution, &selection, &command), terminal)
}
