//! `fidelity`: the same requests on a real kube-apiserver and on the embedded API server.

use std::time::Instant;

use fidelity::kinds;
use fidelity::outcome::Outcome;
use fidelity::play::Pair;
use fidelity::run::{self, Options};
use fidelity::server::Server;
use substrate::embedded;
use substrate::envtest::CLUSTER;
use substrate::kubeconfig;

use crate::arguments::{EnvtestArguments, FidelityArguments, Format};
use crate::envtest;
use crate::signals;
use crate::terminal::{Failure, Telling, Terminal};

/// Prints where the two differ; 5 if anything differs that is not known, 6 if the requests were too tame to tell, 4 if
/// there were none.
pub(crate) fn fidelity(arguments: &FidelityArguments, terminal: &Terminal) -> Result<u8, Failure> {
    let options = options(arguments)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.map_err(|error| Failure::environment(format!("failed to start: {error}")))?;
    let outcome = runtime.block_on(async {
        tokio::select! {
            outcome = compared(arguments, &options, terminal) => outcome,
            signal = signals::either() => Err(Failure::interrupted(signal)),
        }
    })?;
    let json = arguments.output == Format::Json;
    terminal.print(&if json { outcome.to_json() } else { outcome.to_text() });
    Ok(outcome.exit_code())
}

fn options(arguments: &FidelityArguments) -> Result<Options, Failure> {
    if let Some(name) =
        arguments.kind.iter().find(|name| !kinds::all().iter().any(|kind| kind.name() == **name))
    {
        let known: Vec<String> = kinds::all().iter().map(kinds::Kind::name).collect();
        return Err(Failure::usage(format!(
            "{name} is none of the kinds that are compared: {}",
            known.join(", ")
        )));
    }
    Ok(Options {
        kinds: arguments.kind.clone(),
        parallel: usize::from(arguments.parallel),
        examples: arguments.examples,
        ..Options::new(arguments.requests, arguments.seed)
    })
}

async fn compared(
    arguments: &FidelityArguments,
    options: &Options,
    terminal: &Terminal,
) -> Result<Outcome, Failure> {
    let real = EnvtestArguments { with: Vec::new(), data_dir: arguments.data_dir.clone() };
    let real = envtest::start(vec![CLUSTER.to_owned()], &real).await?;
    let embedded = kube::Client::new(embedded::control_plane(false, None), "default");
    let asked = kubeconfig::asking_once(&real.cluster(CLUSTER).kubeconfig).await;
    let asked = asked.map_err(|error| Failure::environment(error.to_string()))?;
    let pair = Pair { real: Server::new(asked), embedded: Server::new(embedded) };
    let begun = Instant::now();
    let told = terminal.telling == Telling::Cases;
    let progress = |requests: usize| {
        if told {
            terminal.note(&format!("{requests} of {} requests", options.requests));
        }
    };
    tokio::select! {
        outcome = run::run(&pair, options, &progress) => {
            let outcome = outcome.map_err(|error| Failure::from(anyhow::Error::from(error)))?;
            Ok(Outcome { took: begun.elapsed(), ..outcome })
        }
        error = real.ended() => Err(Failure::environment(error.to_string())),
    }
}
