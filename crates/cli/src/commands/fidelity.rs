//! `fidelity`: sends the same requests to a real kube-apiserver and to the embedded API server.

mod webhook;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use ::webhook::dial::FixedDialers;
use fidelity::kinds;
use fidelity::outcome::Outcome;
use fidelity::play::Servers;
use fidelity::run::{self, RunOptions};
use fidelity::server::Server;
use formats::depth;
use schema::Crd;
use substrate::embedded::ControlPlane;
use substrate::envtest::CLUSTER;
use substrate::kubeconfig;

use crate::arguments::{ControlPlaneArguments, FidelityArguments, Format};
use crate::ending::Ending;
use crate::envtest;
use crate::signals;
use crate::terminal::{Failure, Terminal, Verbosity};

/// Prints where the two differ; returns 5 for an unknown difference, 6 if the requests were not varied enough, 4 if there were
/// none.
pub(crate) fn fidelity(arguments: &FidelityArguments, terminal: &Terminal) -> Result<Ending, Failure> {
    let options = options(arguments)?;
    let runtime = crate::runtime::multi_thread();
    let runtime = runtime.map_err(|error| Failure::environment(format!("failed to start: {error}")))?;
    let comparison = depth::on_large_stack(|| runtime.block_on(compare(arguments, &options, terminal)))?;
    let json = arguments.output == Format::Json;
    terminal.print(&if json { comparison.outcome.to_json() } else { comparison.outcome.to_text() });
    if let Some(error) = comparison.interruption {
        return Err(error);
    }
    let ending = Ending::new(comparison.outcome.exit_code(), comparison.outcome.cause());
    match comparison.outcome.failed {
        Some(error) => Err(Failure::from(anyhow::Error::from(error))),
        None => Ok(ending.beside(arguments.output)),
    }
}

/// The outcome, and what stopped the comparison early.
struct Comparison {
    outcome: Outcome,
    interruption: Option<Failure>,
}

fn options(arguments: &FidelityArguments) -> Result<RunOptions, Failure> {
    if let Some(name) =
        arguments.kind.iter().find(|name| !kinds::all().iter().any(|kind| kind.name() == **name))
    {
        let known: Vec<String> = kinds::all().iter().map(kinds::Kind::name).collect();
        return Err(Failure::usage(format!(
            "--kind {name}: not a resource that is compared; these are {}",
            known.join(", ")
        )));
    }
    Ok(RunOptions {
        kinds: arguments.kind.clone(),
        parallel: usize::from(arguments.parallel),
        examples: arguments.examples,
        ..RunOptions::new(arguments.requests, arguments.seed)
    })
}

async fn compare(
    arguments: &FidelityArguments,
    options: &RunOptions,
    terminal: &Terminal,
) -> Result<Comparison, Failure> {
    let real =
        ControlPlaneArguments { data_dir: arguments.data_dir.clone(), ..ControlPlaneArguments::default() };
    let own = own_crds()?;
    let real = tokio::select! {
        real = envtest::start(vec![CLUSTER.to_owned()], &own, &real) => real?,
        signal = signals::interrupt_or_terminate() => return Err(Failure::interrupted(signal)),
    };
    let webhooks = webhook::serve().await?;
    let embedded = kube::Client::new(embedded(own).start(), "default");
    let client = kubeconfig::asking_once(&real.cluster(CLUSTER).kubeconfig).await;
    let client = client.map_err(|error| Failure::environment(error.to_string()))?;
    let servers = Servers {
        real: Server::new(client),
        embedded: Server::new(embedded),
        webhooks: webhooks.server.clone(),
    };
    let begun = Instant::now();
    let is_verbose = terminal.verbosity == Verbosity::Verbose;
    let progress = |requests: usize| {
        if is_verbose {
            terminal.note(&format!("{requests} of {} requests", options.requests));
        }
    };
    let interruption = Mutex::new(None);
    let stop = async {
        let failure = tokio::select! {
            signal = signals::interrupt_or_terminate() => Failure { code: 128 + signal, text: "interrupted".to_owned() },
            error = real.ended() => Failure::environment(error.to_string()),
        };
        *interruption.lock().unwrap_or_else(PoisonError::into_inner) = Some(failure);
    };
    let outcome = run::run(&servers, options, &progress, stop).await;
    let interruption = interruption.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(Comparison { outcome: Outcome { took: begun.elapsed(), ..outcome }, interruption })
}

/// The CRDs of the kinds that only `fidelity` has.
fn own_crds() -> Result<Vec<Crd>, Failure> {
    let crds = kinds::definitions().iter().map(|crd| Crd::from_value(crd.clone()));
    crds.collect::<Result<_, _>>().map_err(|error| Failure::from(anyhow::Error::from(error)))
}

/// An embedded control plane that serves further CRDs and calls webhooks by their URLs.
fn embedded(further: Vec<Crd>) -> ControlPlane {
    let control_plane = ControlPlane::default();
    let crds = control_plane.crds.into_iter().chain(further).collect();
    ControlPlane { crds, dialers: Some(Arc::new(FixedDialers::new())), ..ControlPlane::default() }
}
