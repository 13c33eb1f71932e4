//! `run` and `prove`: our own components on a substrate.

use std::path::Path;
use std::sync::Arc;

use conformance::render;
use conformance::run::Ground;
use conformance::target::Target;

use crate::arguments::{Addition, Format, RunArguments, SubstrateName};
use crate::catalog::{Selected, Together};
use crate::options::again::Again;
use crate::session::Wish;
use crate::terminal::{Failure, Terminal};
use crate::{envtest, kind, options, session, targets};

/// Verifies and prints the verdict.
pub(crate) fn run(
    arguments: &RunArguments,
    added: Option<&Path>,
    terminal: &Terminal,
) -> Result<u8, Failure> {
    let report = report(arguments, added, "run", terminal)?;
    session::print(&report, &arguments.execution, terminal);
    Ok(report.exit_code())
}

/// Verifies and prints the damages that each clause was shown to catch, or not.
pub(crate) fn prove(
    arguments: &RunArguments,
    added: Option<&Path>,
    terminal: &Terminal,
) -> Result<u8, Failure> {
    let report = report(arguments, added, "prove", terminal)?;
    match arguments.execution.output {
        Format::Text => terminal.print(&render::proof(&report, &terminal.view(None))),
        Format::Json | Format::Markdown => session::print(&report, &arguments.execution, terminal),
    }
    Ok(report.exit_code())
}

fn report(
    arguments: &RunArguments,
    added: Option<&Path>,
    command: &str,
    terminal: &Terminal,
) -> Result<conformance::report::Report, Failure> {
    let selection = arguments.selection.clone().into();
    let whole = arguments.execution.waivers.is_some();
    let mut selected = Selected::of(added, &selection, arguments.execution.strict, whole)?;
    selected.check()?;
    options::check(&arguments.execution, selected.index().contracts())?;
    envtest::fits(&arguments.envtest, arguments.substrate.word())?;
    kind::fits(arguments.kind.is_said(), arguments.substrate, arguments.execution.gardener.as_deref())?;
    let substrate = arguments.substrate.word();
    let with_manager = arguments.envtest.with.contains(&Addition::ControllerManager);
    let again = Again::new(command, added)
        .unless("--substrate", substrate, "embedded")
        .flag("--with controller-manager", with_manager)
        .path("--data-dir", arguments.envtest.data_dir.as_deref())
        .unless("--zones", arguments.kind.nodes.zones.as_deref().unwrap_or_default(), "");
    // The target is that of all shards: its name is the same in each report.
    let in_cluster = kind::in_cluster(arguments.substrate, &mut selected)?;
    let target: Arc<dyn Target> = match &in_cluster {
        Some(in_cluster) => Arc::<kind::InCluster>::clone(in_cluster),
        None => targets::ours(selected.components(), arguments.execution.gardener.clone())?,
    };
    let shard = selected.deal_out(arguments.shard)?;
    let ground = async {
        Ok(match arguments.substrate {
            SubstrateName::Embedded => Ground::Embedded,
            SubstrateName::Direct => session::direct(),
            SubstrateName::Envtest => {
                let parallel = arguments.execution.parallel;
                let started = envtest::start_for(&selected, parallel, &[], &arguments.envtest).await?;
                Ground::Envtest(Arc::new(started))
            }
            SubstrateName::Kind => kind::ground(in_cluster.as_deref(), &arguments.kind, terminal).await?,
        })
    };
    let wish = Wish {
        execution: &arguments.execution,
        selection: &selection,
        command: &options::repeated(again, &arguments.execution),
        substrate,
        shard,
        keeps_damages: command == "prove",
    };
    // Registrations on a real server take their time, and lanes of real clusters should have scenarios to run.
    let together = match arguments.substrate {
        SubstrateName::Kind => Together::Run,
        SubstrateName::Envtest => Together::Component,
        SubstrateName::Embedded | SubstrateName::Direct => Together::Contract,
    };
    session::run((&selected, together), target, ground, &wish, terminal)
}
