//! `run` and `prove`: verify our components on a substrate.

use std::path::Path;
use std::sync::Arc;

use conformance::render;
use conformance::run::Substrate;
use conformance::target::Target;

use crate::arguments::{Addition, Format, RunArguments, SubstrateName};
use crate::catalog::{Batching, Selected};
use crate::components::garden;
use crate::ending::Ending;
use crate::options::repeat_command::RepeatCommand;
use crate::session::RunRequest;
use crate::targets::Requested;
use crate::terminal::{Failure, Terminal};
use crate::{envtest, kind, options, session, targets};

/// Runs the cases and prints the report.
pub(crate) fn run(
    arguments: &RunArguments,
    added: Option<&Path>,
    terminal: &Terminal,
) -> Result<Ending, Failure> {
    let report = report(arguments, added, "run", terminal)?;
    session::print_run(&report, &arguments.cases.execution, terminal);
    Ok(Ending::of_report(&report, arguments.cases.execution.output))
}

/// Runs the cases and prints, for each clause, the falsified answers that it noticed or missed.
pub(crate) fn prove(
    arguments: &RunArguments,
    added: Option<&Path>,
    terminal: &Terminal,
) -> Result<Ending, Failure> {
    let report = report(arguments, added, "prove", terminal)?;
    match arguments.cases.execution.output {
        Format::Text => terminal.print(&render::proof(&report, &terminal.view(None))),
        Format::Json | Format::Markdown => session::print_run(&report, &arguments.cases.execution, terminal),
    }
    Ok(Ending::of_report(&report, arguments.cases.execution.output))
}

fn report(
    arguments: &RunArguments,
    added: Option<&Path>,
    command: &str,
    terminal: &Terminal,
) -> Result<conformance::report::Report, Failure> {
    let selection = arguments.cases.selection.clone().into();
    // Waivers are checked against all clauses.
    let needs_all = arguments.cases.execution.waivers.is_some();
    let mut selected = Selected::of(added, &selection, arguments.cases.execution.strict, needs_all)?;
    selected.check()?;
    options::check(&arguments.cases.execution, selected.index().contracts())?;
    envtest::check_flags(&arguments.cases.control_plane, arguments.substrate.name())?;
    let gardener = &arguments.cases.execution.gardener;
    kind::check_flags(arguments.cases.kind.is_given(), arguments.substrate, gardener.as_deref())?;
    let substrate = arguments.substrate.name();
    // Create the target before a shard is selected: its name must be the same in the reports of all shards.
    let in_cluster = kind::in_cluster_target(arguments.substrate, &mut selected)?;
    let target: Arc<dyn Target> = match &in_cluster {
        Some(in_cluster) => Arc::<kind::InCluster>::clone(in_cluster),
        None => targets::own_components(selected.components(), requested(arguments))?,
    };
    let shard = selected.keep_shard(arguments.cases.shard)?;
    let starting = async {
        Ok(match arguments.substrate {
            SubstrateName::Embedded => Substrate::Embedded,
            SubstrateName::Garden => garden::substrate(),
            SubstrateName::Direct => session::direct_with_embedded_facts(),
            SubstrateName::Envtest => {
                let cases = &arguments.cases;
                let parallel = cases.execution.parallel;
                let started = envtest::start_for(&selected, parallel, &[], &cases.control_plane).await?;
                Substrate::Envtest(Arc::new(started))
            }
            SubstrateName::Kind => {
                kind::start_target(in_cluster.as_deref(), &arguments.cases.kind, terminal).await?
            }
        })
    };
    let request = RunRequest {
        execution: &arguments.cases.execution,
        selection: &selection,
        command: &options::repeat_command_line(
            repeat_command(command, arguments, added),
            &arguments.cases.execution,
        ),
        substrate,
        shard,
        keeps_damages: command == "prove",
    };
    // Registering webhooks on a real server is slow, and the lanes of real clusters need enough scenarios.
    let batching = match arguments.substrate {
        SubstrateName::Kind => Batching::WholeRun,
        SubstrateName::Envtest => Batching::PerComponent,
        SubstrateName::Embedded | SubstrateName::Garden | SubstrateName::Direct => Batching::PerContract,
    };
    session::run((&selected, batching), target, starting, &request, terminal)
}

/// The releases that the user requested.
fn requested(arguments: &RunArguments) -> Requested<'_> {
    Requested {
        gardener: arguments.cases.execution.gardener.as_deref(),
        kubernetes: arguments.cases.control_plane.kubernetes,
        added: None,
    }
}

/// The command line that repeats this one.
fn repeat_command(command: &str, arguments: &RunArguments, added: Option<&Path>) -> RepeatCommand {
    let cases = &arguments.cases;
    let with_manager = cases.control_plane.with.contains(&Addition::ControllerManager);
    RepeatCommand::new(command, added)
        .unless_default("--substrate", arguments.substrate.name(), "embedded")
        .version("--kubernetes", cases.control_plane.kubernetes)
        .flag("--with controller-manager", with_manager)
        .path("--data-dir", cases.control_plane.data_dir.as_deref())
        .unless_default("--zones", cases.kind.nodes.zones.as_deref().unwrap_or_default(), "")
}
