//! The command line.

use std::ffi::OsString;
use std::process::ExitCode;

use apiserver::flags::{FlagError, GivenFlags, help};
use controller::clock::Clock;
use controller::command::print_line;
use controller::log::{self, LogError};
use controller::process::termination_signal;
use formats::depth;

use super::flags::FLAGS;
use super::options::ApiServerOptions;
use super::serving::{self, ServingError};

const NAME: &str = "gardener-apiserver";
const ABOUT: &str = "gardener-apiserver: serves Gardener's API behind a kube-apiserver. Objects are kept in memory: a restart \
                     loses them.";

/// Why the command failed.
#[derive(Debug, thiserror::Error)]
enum ServerFailure {
    #[error("{0}")]
    Flag(#[from] FlagError),
    #[error("{0}")]
    Log(#[from] LogError),
    #[error("failed to start the runtime: {0}")]
    Runtime(#[from] std::io::Error),
    #[error("{0}")]
    Serving(#[from] ServingError),
}

/// Runs the command; errors are printed on standard output and exit with 1.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments = arguments.into_iter().skip(1);
    let arguments = arguments.map(|argument| argument.to_string_lossy().into_owned()).collect();
    match run(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            print_line(&format!("Error: {error}"));
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: Vec<String>) -> Result<(), ServerFailure> {
    let given = GivenFlags::read(FLAGS, arguments)?;
    if given.has("help") || given.has("h") {
        print_line(&help(ABOUT, FLAGS));
        return Ok(());
    }
    if given.has("version") {
        print_line(&format!("{NAME} v{}", env!("CARGO_PKG_VERSION")));
        return Ok(());
    }
    let options = ApiServerOptions::from_flags(&given)?;
    let (level, format) = options.log;
    log::init(level, format, Clock::system())?;
    tracing::info!(version = env!("CARGO_PKG_VERSION"), "Starting {NAME}");
    tracing::warn!("objects are kept in memory: a restart loses them");
    for flag in given.without_effect() {
        tracing::info!("--{flag} has no effect on this gardener-apiserver");
    }
    for feature in &options.features_without_effect {
        tracing::info!("the feature {feature} has no effect on this gardener-apiserver");
    }
    for argument in given.unknown() {
        tracing::warn!("ignored {argument}: unknown to gardener-apiserver");
    }
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().thread_stack_size(depth::STACK).build()?;
    let result = depth::on_large_stack(|| runtime.block_on(serve(options)));
    // A watch may never end by itself.
    runtime.shutdown_background();
    if let Err(error) = &result {
        tracing::error!(%error, "{NAME} failed");
    }
    result
}

async fn serve(options: ApiServerOptions) -> Result<(), ServerFailure> {
    let mut signal = std::pin::pin!(termination_signal()?);
    let serving = tokio::select! {
        biased;
        () = &mut signal => return Ok(()),
        serving = Box::pin(serving::start(options)) => serving?,
    };
    tracing::info!(url = serving.url, "serves Gardener's API");
    signal.await;
    tracing::info!("stops");
    serving.shutdown().await;
    Ok(())
}
