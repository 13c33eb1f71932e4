//! `diff-run`: the same generated inputs for two targets, and where their answers differ.

use std::path::Path;
use std::sync::Arc;

use conformance::differential::{self, FactsFrom, Options, outcome::Outcome};
use conformance::render;
use conformance::run::Interrupt;
use conformance::target::{Facts, Target};
use contract::document::SourceFile;
use contract::explanations::Explanations;
use contract::load::{self, Errors, Loaded};
use contract::model::Contract;

use crate::arguments::{DiffRunArguments, Format, RunningArguments};
use crate::progress::Progress;
use crate::targets;
use crate::terminal::{Failure, Terminal};
use crate::{catalog, options, signals};

/// Asks both and prints what differs; 5 if a difference is not explained.
pub(crate) fn diff_run(
    arguments: &DiffRunArguments,
    added: Option<&Path>,
    terminal: &Terminal,
) -> Result<u8, Failure> {
    let loaded = catalog::load(added)?;
    let contracts = wanted(&loaded, &arguments.webhook)?;
    let explanations = explanations(arguments, &loaded)?;
    let (a, b) = (named(arguments, &arguments.a)?, named(arguments, &arguments.b)?);
    let settle = options::duration("--settle", &arguments.settle)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.map_err(|error| Failure::environment(format!("failed to start: {error}")))?;
    let outcome = runtime.block_on(async {
        let options = Options {
            objects: arguments.objects,
            seed: arguments.seed,
            settle,
            facts: facts(arguments).await?,
            explanations: &explanations,
        };
        Ok::<_, Failure>(watched(&contracts, (a.as_ref(), b.as_ref()), &options, terminal).await)
    })?;
    terminal.print(&match arguments.output {
        Format::Json => format!("{:#}", serde_json::json!(outcome)),
        Format::Text | Format::Markdown => render::differential(&outcome, &terminal.view(None)),
    });
    Ok(outcome.exit_code())
}

/// The contracts of these webhooks; of all where none is named.
fn wanted(loaded: &Loaded, names: &[String]) -> Result<Vec<Contract>, Failure> {
    let asked = loaded.catalog.contracts.iter().filter(|contract| differential::is_asked(contract));
    let webhook =
        |contract: &Contract| contract.subject.webhook.clone().unwrap_or_else(|| contract.name.clone());
    let known: Vec<(String, &Contract)> = asked.map(|contract| (webhook(contract), contract)).collect();
    if let Some(unknown) = names.iter().find(|name| known.iter().all(|(known, _)| known != *name)) {
        let known: Vec<&str> = known.iter().map(|(name, _)| name.as_str()).collect();
        return Err(Failure::usage(format!(
            "there is no webhook {unknown}; there are: {}",
            known.join(", ")
        )));
    }
    let chosen = known.into_iter().filter(|(name, _)| names.is_empty() || names.contains(name));
    Ok(chosen.map(|(_, contract)| contract.clone()).collect())
}

/// Those of the folder of contracts, and before them those of `--explanations`.
fn explanations(arguments: &DiffRunArguments, loaded: &Loaded) -> Result<Vec<Explanations>, Failure> {
    let mut all = Vec::new();
    for path in &arguments.explanations {
        let text = std::fs::read_to_string(path).map_err(|error| {
            Failure::usage(format!("failed to read explanations {}: {error}", path.display()))
        })?;
        let read = load::read(&[SourceFile::new(path.display().to_string(), text)]);
        if !read.errors.is_empty() {
            return Err(Failure::diagnostic(Errors(read.errors)));
        }
        if read.explanations.is_empty() {
            return Err(Failure::usage(format!("{} is no file of kind Explanations", path.display())));
        }
        all.extend(read.explanations);
    }
    all.extend(loaded.explanations.iter().cloned());
    let clauses = all.iter().flat_map(|file| &file.entries).filter_map(|entry| entry.clause.as_deref());
    if let Some(unknown) = clauses.into_iter().find(|id| loaded.catalog.clause(id).is_none()) {
        return Err(Failure::usage(format!("an explanation names {unknown}, which no contract has")));
    }
    Ok(all)
}

/// `--ca`, `--insecure` and `--config` are about the target that runs already.
fn named(arguments: &DiffRunArguments, target: &str) -> Result<Arc<dyn Target>, Failure> {
    if targets::is_started(target) {
        return targets::named(target, &RunningArguments::default());
    }
    targets::named(target, &arguments.running)
}

/// Where both read their facts: the cluster of `--kubeconfig`; an API server of this process if both are started with it;
/// else nowhere.
async fn facts(arguments: &DiffRunArguments) -> Result<FactsFrom, Failure> {
    let both_started = [&arguments.a, &arguments.b].into_iter().all(|target| targets::is_started(target));
    let Some(path) = &arguments.running.kubeconfig else {
        if both_started && arguments.running.describes() {
            let text = "--ca, --insecure and --config are for a target that runs already, and neither does";
            return Err(Failure::usage(text));
        }
        return Ok(if both_started { FactsFrom::Embedded } else { FactsFrom::Nowhere });
    };
    let client =
        substrate::kubeconfig::client(path).await.map_err(|error| Failure::environment(error.to_string()))?;
    Ok(FactsFrom::Given(Facts { client, kubeconfig: Some(path.clone()) }))
}

async fn watched(
    contracts: &[Contract],
    targets: (&dyn Target, &dyn Target),
    options: &Options<'_>,
    terminal: &Terminal,
) -> Outcome {
    let interrupt = Interrupt::default();
    let heard = interrupt.clone();
    let listener = tokio::spawn(async move { heard.raise(signals::either().await) });
    let progress = Progress::new(terminal);
    progress.expect(contracts.len() * options.objects);
    let tell = |webhook: &str, asked: usize| progress.advance(webhook, asked);
    let outcome = differential::run(contracts, targets, options, &tell, &interrupt).await;
    progress.finish();
    listener.abort();
    outcome
}
