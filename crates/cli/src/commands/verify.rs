//! `verify` and `attest`: a URL, a binary or a target file, without a cluster or with the one it reads.

use std::path::Path;
use std::sync::Arc;

use conformance::run::{FactsFrom, Ground};
use conformance::target::{Facts, Target};
use conformance::{attest as attesting, report};
use contract::document::SourceFile;
use contract::document::attestation::{self, Attestation};
use contract::model::Form;
use schema::Crd;

use crate::arguments::{Addition, AttestArguments, BUILT_IN, SubstrateName, VerifyArguments};
use crate::catalog::{Selected, Together};
use crate::options::again::Again;
use crate::session::Wish;
use crate::targets;
use crate::terminal::{Failure, Terminal};
use crate::{catalog, envtest, kind, options, session};

/// Verifies and prints the verdict.
pub(crate) fn verify(
    arguments: &VerifyArguments,
    added: Option<&Path>,
    terminal: &Terminal,
) -> Result<u8, Failure> {
    let report = report(arguments, added, terminal)?;
    session::print(&report, &arguments.execution, terminal);
    Ok(report.exit_code())
}

/// Verifies a foreign implementation and records which clauses it keeps.
pub(crate) fn attest(
    arguments: &AttestArguments,
    added: Option<&Path>,
    terminal: &Terminal,
) -> Result<u8, Failure> {
    if arguments.verify.execution.strict {
        let text = "--strict: it changes how binding clauses are, and an attestation says which are kept, however binding they \
                    are; leave it out, or judge with verify --strict";
        return Err(Failure::usage(text));
    }
    let selection = &arguments.verify.selection;
    if !selection.case.is_empty() || selection.sample.is_some() {
        let text = "--case, --sample: an attestation says which clauses are kept in all their cases; select clauses or contracts";
        return Err(Failure::usage(text));
    }
    let report = report(&arguments.verify, added, terminal)?;
    session::print(&report, &arguments.verify.execution, terminal);
    let clauses = catalog::index(added)?.summaries().map_err(Failure::diagnostic)?;
    let mut draft = attesting::draft(&clauses, &report);
    if let Some(code) = draft.refusal(&report) {
        terminal
            .note("the attestation is not written: the run was not whole; what was attested before stays");
        return Ok(code);
    }
    if let Some(before) = attested(&arguments.into.join(&draft.file))? {
        draft.attestation.keep(before, &clauses);
    }
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
    Ok(draft.exit_code(&report))
}

/// What was attested before, if anything was.
fn attested(path: &Path) -> Result<Option<Attestation>, Failure> {
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
    let selection = arguments.selection.clone().into();
    let whole = arguments.execution.waivers.is_some();
    let mut selected = Selected::of(added, &selection, arguments.execution.strict, whole)?;
    selected.check()?;
    options::check(&arguments.execution, selected.index().contracts())?;
    let running = &arguments.running;
    let gardener = arguments.execution.gardener.as_deref();
    let named = targets::named(&arguments.target, selected.components(), running, gardener)?;
    // What it is not about was not asked for: it would only be told as not supported. Objects are asked by `check`.
    selected.retain(|contract| {
        named.is_asked_of(&contract.component, contract.form) && contract.form != Form::Objects
    });
    if selected.is_empty() {
        let text = format!("nothing of {} is asked of {}", selection.words(), named.identity().name);
        return Err(Failure { code: 4, text });
    }
    fits(arguments)?;
    let in_cluster = kind::in_cluster(arguments.substrate, &mut selected)?;
    let target: Arc<dyn Target> = match &in_cluster {
        Some(in_cluster) => Arc::<kind::InCluster>::clone(in_cluster),
        None => named,
    };
    let shard = selected.deal_out(arguments.shard)?;
    let substrate = arguments.substrate.word();
    let again = again(arguments, added);
    let wish = Wish {
        execution: &arguments.execution,
        selection: &selection,
        command: &options::repeated(again, &arguments.execution),
        substrate,
        shard,
        keeps_damages: false,
    };
    // What is started outside this process takes its time, so contracts of one component share it.
    let together = match arguments.substrate {
        SubstrateName::Kind => Together::Run,
        SubstrateName::Envtest => Together::Component,
        _ if target.is_outside() => Together::Component,
        SubstrateName::Embedded | SubstrateName::Direct => Together::Contract,
    };
    let crds = target.needs().crds.clone();
    let ground = ground(arguments, (&selected, &crds), in_cluster.as_deref(), terminal);
    session::run((&selected, together), target, ground, &wish, terminal)
}

/// The command that repeats this one.
fn again(arguments: &VerifyArguments, added: Option<&Path>) -> Again {
    let with_manager = arguments.envtest.with.contains(&Addition::ControllerManager);
    Again::new("verify", added)
        .with("--target", &arguments.target)
        .path("--ca", arguments.running.trust.ca.as_deref())
        .flag("--insecure", arguments.running.trust.insecure)
        .path("--config", arguments.running.config.as_deref())
        .path("--kubeconfig", arguments.running.kubeconfig.as_deref())
        .unless("--substrate", arguments.substrate.word(), "direct")
        .flag("--with controller-manager", with_manager)
        .path("--data-dir", arguments.envtest.data_dir.as_deref())
        .unless("--zones", arguments.kind.nodes.zones.as_deref().unwrap_or_default(), "")
}

/// Refuses a server for a target that reads another one already.
fn fits(arguments: &VerifyArguments) -> Result<(), Failure> {
    envtest::fits(&arguments.envtest, arguments.substrate.word())?;
    kind::fits(arguments.kind.is_said(), arguments.substrate, arguments.execution.gardener.as_deref())?;
    let substrate = arguments.substrate.word();
    if arguments.substrate == SubstrateName::Direct {
        return Ok(());
    }
    if !targets::is_started(&arguments.target) {
        return Err(Failure::usage(format!(
            "--substrate {substrate}: a target that runs already reads another cluster; say command=…, image=… or \
             a target file with one of the two, which is started beside the server"
        )));
    }
    if arguments.substrate == SubstrateName::Kind && arguments.target != BUILT_IN {
        return Err(Failure::usage(format!(
            "--substrate kind: what runs in the cluster are our own components, say --target {BUILT_IN}"
        )));
    }
    if arguments.running.kubeconfig.is_some() {
        return Err(Failure::usage(format!(
            "--substrate {substrate} has a cluster of its own: leave --kubeconfig out"
        )));
    }
    Ok(())
}

async fn ground(
    arguments: &VerifyArguments,
    (selected, crds): (&Selected, &[Crd]),
    in_cluster: Option<&kind::InCluster>,
    terminal: &Terminal,
) -> Result<Ground, Failure> {
    Ok(match arguments.substrate {
        SubstrateName::Direct => Ground::Direct(facts(arguments).await?),
        SubstrateName::Embedded => Ground::Embedded,
        SubstrateName::Envtest => {
            let parallel = arguments.execution.parallel;
            let started = envtest::start_for(selected, parallel, crds, &arguments.envtest).await?;
            Ground::Envtest(Arc::new(started))
        }
        SubstrateName::Kind => kind::ground(in_cluster, &arguments.kind, terminal).await?,
    })
}

/// Where facts are written: the given cluster; for a started binary an API server of this process; else nowhere.
async fn facts(arguments: &VerifyArguments) -> Result<FactsFrom, Failure> {
    let Some(path) = &arguments.running.kubeconfig else {
        let is_apart = targets::is_started(&arguments.target) || targets::is_garden(&arguments.target);
        return Ok(if is_apart { FactsFrom::Embedded } else { FactsFrom::Nowhere });
    };
    let client =
        substrate::kubeconfig::client(path).await.map_err(|error| Failure::environment(error.to_string()))?;
    Ok(FactsFrom::Given(Facts { client, kubeconfig: Some(path.clone()) }))
}
