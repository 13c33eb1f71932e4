//! `fidelity`: the same requests on a real kube-apiserver and on the embedded API server.

use std::sync::{Mutex, PoisonError};
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
    let outcome = runtime.block_on(compared(arguments, &options, terminal))?;
    let json = arguments.output == Format::Json;
    terminal.print(&if json { outcome.told.to_json() } else { outcome.told.to_text() });
    if let Some(error) = outcome.ended {
        return Err(error);
    }
    let code = outcome.told.exit_code();
    match outcome.told.failed {
        Some(error) => Err(Failure::from(anyhow::Error::from(error))),
        None => Ok(code),
    }
}

/// What came out, and what ended it before its end.
struct Compared {
    told: Outcome,
    ended: Option<Failure>,
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
) -> Result<Compared, Failure> {
    let real = EnvtestArguments { with: Vec::new(), data_dir: arguments.data_dir.clone() };
    let real = tokio::select! {
        real = envtest::start(vec![CLUSTER.to_owned()], &[], &real) => real?,
        signal = signals::either() => return Err(Failure::interrupted(signal)),
    };
    let embedded = kube::Client::new(embedded::ControlPlane::default().start(), "default");
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
    let ended = Mutex::new(None);
    let stop = async {
        let failure = tokio::select! {
            signal = signals::either() => Failure { code: 128 + signal, text: "interrupted".to_owned() },
            error = real.ended() => Failure::environment(error.to_string()),
        };
        *ended.lock().unwrap_or_else(PoisonError::into_inner) = Some(failure);
    };
    let outcome = run::run(&pair, options, &progress, stop).await;
    let ended = ended.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(Compared { told: Outcome { took: begun.elapsed(), ..outcome }, ended })
}
