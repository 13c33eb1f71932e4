//! `verify` and `attest`: verify a URL, a program, an image or a target file.

use std::path::Path;
use std::sync::Arc;

use conformance::attest as attestation_draft;
use conformance::report::{self, ExitReason};
use conformance::run::{FactsFrom, Substrate};
use conformance::target::{Facts, Target};
use contract::document::SourceFile;
use contract::document::attestation::{self, Attestation};
use contract::model::Form;
use schema::Crd;

use crate::arguments::{
    Addition, AttestArguments, BUILT_IN, ControlPlaneArguments, SubstrateName, VerifyArguments,
};
use crate::catalog::{Batching, Selected};
use crate::components::garden;
use crate::ending::Ending;
use crate::kubeconfig::cluster_client;
use crate::options::repeat_command::RepeatCommand;
use crate::session::RunRequest;
use crate::targets::{self, Requested, TargetScope};
use crate::terminal::{Failure, Terminal};
use crate::{catalog, envtest, kind, options, session};

/// Runs the cases and prints the report.
pub(crate) fn verify(
    arguments: &VerifyArguments,
    added: Option<&Path>,
    terminal: &Terminal,
) -> Result<Ending, Failure> {
    let report = report(arguments, added, terminal)?;
    session::print_run(&report, &arguments.cases.execution, terminal);
    Ok(Ending::of_report(&report, arguments.cases.execution.output))
}

/// Verifies another implementation and records which clauses it keeps.
pub(crate) fn attest(
    arguments: &AttestArguments,
    added: Option<&Path>,
    terminal: &Terminal,
) -> Result<Ending, Failure> {
    if arguments.verify.cases.execution.strict {
        let text = "--strict: this flag changes the level of clauses, but an attestation records which clauses are kept, \
        whatever their level; leave the flag out, or use `verify --strict`";
        return Err(Failure::usage(text));
    }
    let selection = &arguments.verify.cases.selection;
    if !selection.case.is_empty() || selection.sample.is_some() {
        let text = "--case, --sample: an attestation needs all cases of a clause; select clauses or contracts instead";
        return Err(Failure::usage(text));
    }
    session::check_folder("--into", &arguments.into)?;
    let output = arguments.verify.cases.execution.output;
    let report = report(&arguments.verify, added, terminal)?;
    session::print_run(&report, &arguments.verify.cases.execution, terminal);
    let clauses = catalog::index(added)?.summaries().map_err(Failure::diagnostic)?;
    let mut draft = attestation_draft::draft(&clauses, &report);
    if let Some(code) = draft.refusal(&report) {
        terminal.note(
            "the attestation is not written, because the run was incomplete; an earlier attestation stays",
        );
        return Ok(Ending::new(code, "the run was incomplete, so no attestation was written").beside(output));
    }
    if let Some(before) = read_attestation(&arguments.into.join(&draft.file))? {
        draft.attestation.keep(before, &clauses);
    }
    let text = draft
        .to_yaml()
        .map_err(|error| Failure::environment(format!("failed to write the attestation: {error}")))?;
    match report::write(&arguments.into, &draft.file, &text) {
        Ok(written) => terminal.note(&format!("wrote {}", written.display())),
        Err(error) => terminal.lose(error.to_string()),
    }
    for clause in &draft.unstated {
        terminal.note(&format!("the target breaks {clause}, and the contract states no such difference"));
    }
    for clause in &draft.kept_though_stated {
        terminal.note(&format!("the target keeps {clause}, although the contract states a difference"));
    }
    let ExitReason { code, cause } = draft.exit_reason(&report);
    Ok(Ending::new(code, cause).beside(output))
}

/// Reads an earlier attestation, if there is one.
fn read_attestation(path: &Path) -> Result<Option<Attestation>, Failure> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Failure::usage(format!("failed to read {}: {error}", path.display()))),
    };
    let file = SourceFile::new(path.display().to_string(), text);
    attestation::read(&file).map(Some).map_err(Failure::diagnostic)
}

fn report(
    arguments: &VerifyArguments,
    added: Option<&Path>,
    terminal: &Terminal,
) -> Result<report::Report, Failure> {
    targets::check_file(&arguments.target, added)?;
    let mut selection = arguments.cases.selection.clone().into();
    let scope = TargetScope::of(&arguments.target, &arguments.running, &selection)?;
    scope.complete(&mut selection);
    // Waivers are checked against all clauses.
    let needs_all = arguments.cases.execution.waivers.is_some();
    let mut selected = Selected::of(added, &selection, arguments.cases.execution.strict, needs_all)?;
    selected.check()?;
    options::check(&arguments.cases.execution, selected.index().contracts())?;
    let running = &arguments.running;
    let requested = Requested {
        gardener: arguments.cases.execution.gardener.as_deref(),
        kubernetes: arguments.cases.control_plane.kubernetes,
        added,
    };
    let target = targets::resolve(&arguments.target, selected.components(), running, requested)?;
    // Drop contracts that do not concern the target: the report would list them as not supported. `check objects` runs contracts
    // about objects.
    selected.retain(|contract| {
        target.supports(&contract.component, contract.form) && contract.form != Form::Objects
    });
    let left_out = scope.restrict(&mut selected);
    if selected.is_empty() {
        let text = format!("no contract of {} applies to {}", selection.words(), target.identity().name);
        let text = [text].into_iter().chain(scope.reason_for_nothing()).chain(left_out);
        return Err(Failure { code: 4, text: text.collect::<Vec<_>>().join("\n") });
    }
    for sentence in left_out {
        terminal.note(&terminal.wrap(&sentence, "  "));
    }
    check_substrate(arguments)?;
    let in_cluster = kind::in_cluster_target(arguments.substrate, &mut selected)?;
    let target: Arc<dyn Target> = match &in_cluster {
        Some(in_cluster) => Arc::<kind::InCluster>::clone(in_cluster),
        None => target,
    };
    let shard = selected.keep_shard(arguments.cases.shard)?;
    let substrate = arguments.substrate.name();
    let repeat = repeat_command(arguments, added);
    let request = RunRequest {
        execution: &arguments.cases.execution,
        selection: &selection,
        command: &options::repeat_command_line(repeat, &arguments.cases.execution),
        substrate,
        shard,
        keeps_damages: false,
    };
    let batching = batching(arguments.substrate, &*target);
    let crds = target.needs().crds.clone();
    let starting = start_substrate(arguments, (&selected, &crds), in_cluster.as_deref(), terminal);
    session::run((&selected, batching), target, starting, &request, terminal)
}

/// Which contracts share a target: one outside this process starts slowly.
fn batching(substrate: SubstrateName, target: &dyn Target) -> Batching {
    match substrate {
        SubstrateName::Kind => Batching::WholeRun,
        SubstrateName::Envtest => Batching::PerComponent,
        _ if target.is_outside() => Batching::PerComponent,
        SubstrateName::Embedded | SubstrateName::Garden | SubstrateName::Direct => Batching::PerContract,
    }
}

/// The command line that repeats this one.
fn repeat_command(arguments: &VerifyArguments, added: Option<&Path>) -> RepeatCommand {
    let with_manager = arguments.cases.control_plane.with.contains(&Addition::ControllerManager);
    RepeatCommand::new("verify", added)
        .with("--target", &arguments.target)
        .path("--ca", arguments.running.trust.ca.as_deref())
        .flag("--insecure", arguments.running.trust.insecure)
        .path("--config", arguments.running.config.as_deref())
        .path("--kubeconfig", arguments.running.kubeconfig.as_deref())
        .unless_default("--provider", arguments.running.provider.as_deref().unwrap_or_default(), "")
        .unless_default("--substrate", arguments.substrate.name(), "direct")
        .version("--kubernetes", arguments.cases.control_plane.kubernetes)
        .flag("--with controller-manager", with_manager)
        .path("--data-dir", arguments.cases.control_plane.data_dir.as_deref())
        .unless_default("--zones", arguments.cases.kind.nodes.zones.as_deref().unwrap_or_default(), "")
}

/// Refuses flags that do not go with the substrate, and a server for a running target, which already reads another one.
fn check_substrate(arguments: &VerifyArguments) -> Result<(), Failure> {
    envtest::check_flags(&arguments.cases.control_plane, arguments.substrate.name())?;
    kind::check_flags(
        arguments.cases.kind.is_given(),
        arguments.substrate,
        arguments.cases.execution.gardener.as_deref(),
    )?;
    let substrate = arguments.substrate.name();
    if arguments.cases.control_plane.kubernetes.is_some() && !targets::is_started(&arguments.target)? {
        let text = "--kubernetes is for a target that the tool starts with an API server; a running target already reads \
        another cluster";
        return Err(Failure::usage(text));
    }
    if arguments.substrate == SubstrateName::Direct {
        return Ok(());
    }
    if !targets::is_started(&arguments.target)? {
        return Err(Failure::usage(format!(
            "--substrate {substrate}: a running target already reads another cluster; use command=…, image=… or a target \
            file with one of the two, which the tool starts with the server"
        )));
    }
    if arguments.substrate == SubstrateName::Kind && arguments.target != BUILT_IN {
        return Err(Failure::usage(format!("--substrate kind supports --target {BUILT_IN} only")));
    }
    if arguments.running.kubeconfig.is_some() {
        return Err(Failure::usage(format!(
            "--substrate {substrate} starts its own cluster: leave --kubeconfig out"
        )));
    }
    Ok(())
}

async fn start_substrate(
    arguments: &VerifyArguments,
    (selected, crds): (&Selected, &[Crd]),
    in_cluster: Option<&kind::InCluster>,
    terminal: &Terminal,
) -> Result<Substrate, Failure> {
    Ok(match arguments.substrate {
        SubstrateName::Direct => Substrate::Direct(facts(arguments).await?),
        SubstrateName::Embedded => Substrate::Embedded,
        SubstrateName::Garden => garden::substrate(),
        SubstrateName::Envtest => {
            let cases = &arguments.cases;
            let control_plane = ControlPlaneArguments {
                kubernetes: targets::requested_kubernetes(&arguments.target, cases.control_plane.kubernetes)?,
                ..cases.control_plane.clone()
            };
            let started =
                envtest::start_for(selected, cases.execution.parallel, crds, &control_plane).await?;
            Substrate::Envtest(Arc::new(started))
        }
        SubstrateName::Kind => kind::start_target(in_cluster, &arguments.cases.kind, terminal).await?,
    })
}

/// Where facts are written: to the cluster of `--kubeconfig`; for a started target to an API server of this process; else nowhere.
async fn facts(arguments: &VerifyArguments) -> Result<FactsFrom, Failure> {
    let Some(path) = &arguments.running.kubeconfig else {
        let needs_server = targets::is_started(&arguments.target)? || targets::is_garden(&arguments.target)?;
        return Ok(if needs_server { FactsFrom::Embedded } else { FactsFrom::Nowhere });
    };
    let client = cluster_client(path).await?;
    Ok(FactsFrom::Given(Facts { client, kubeconfig: Some(path.clone()) }))
}
