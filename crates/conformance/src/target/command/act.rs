//! What a case of the form process does with the program of a target.

use std::time::Duration;

use contract::process::{ProcessAction, ProcessSignal, ServerRequest};
use rustix::process::Signal;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::process::Process;
use super::{CommandTarget, exchange};
use crate::target::{Observed, Setup, TargetError};

/// How long a program may take to end.
const PATIENCE: Duration = Duration::from_secs(15);
const PAUSE: Duration = Duration::from_millis(10);

/// Does it, and returns what was observed.
pub(super) async fn act(
    target: &CommandTarget,
    setup: Setup<'_>,
    action: &ProcessAction,
) -> Result<Observed, TargetError> {
    match action {
        ProcessAction::Run(arguments) => run(target, setup, arguments).await,
        ProcessAction::Request(request) => send(target, setup, request).await,
        ProcessAction::Signal(_) if target.image.is_some() => {
            Ok(Observed::Unknown("the tool does not send signals to containers".to_owned()))
        }
        ProcessAction::Signal(signal) => end(target, setup, *signal).await,
    }
}

async fn run(
    target: &CommandTarget,
    setup: Setup<'_>,
    arguments: &[String],
) -> Result<Observed, TargetError> {
    let prepared = target.prepare(&setup).await?;
    let arguments = prepared.placeholders.fill_all(arguments)?;
    let mut program = prepared.program;
    // What precedes the first flag is the program: `gardener-extension webhooks --port=…`.
    program.command = program.command.into_iter().take_while(|word| !word.starts_with('-')).collect();
    if target.image.is_some() {
        program.args = arguments;
    } else {
        program.command.extend(arguments);
    }
    let line = prepared.location.line(program, &[])?;
    let mut process = Process::spawn(line, (&target.folder, prepared.folder.path()))?;
    let ended = wait(&mut process).await;
    process.stop().await;
    match prepared.location.creation_error() {
        Some(error) => Err(error),
        None => Ok(Observed::Document(ended)),
    }
}

async fn send(
    target: &CommandTarget,
    setup: Setup<'_>,
    request: &ServerRequest,
) -> Result<Observed, TargetError> {
    if target.address_of(request.server).is_none() {
        let (server, field) = (request.server.name(), request.server.field());
        let text = format!("the target file has no address of the server of {server} (`{field}`)");
        return Ok(Observed::Unknown(text));
    }
    let (running, authority) = target.begin(setup).await?;
    let address = running.addresses.of_server(request.server).unwrap_or_default();
    let response = exchange::send(address, request, authority).await;
    running.process.stop().await;
    Ok(Observed::Document(json!({"response": response})))
}

async fn end(
    target: &CommandTarget,
    setup: Setup<'_>,
    signal: ProcessSignal,
) -> Result<Observed, TargetError> {
    let (mut running, _) = target.begin(setup).await?;
    running.process.send(match signal {
        ProcessSignal::Term => Signal::TERM,
        ProcessSignal::Int => Signal::INT,
    });
    let ended = wait(&mut running.process).await;
    running.process.stop().await;
    Ok(Observed::Document(ended))
}

/// The end of a process; without `exitCode` if it has not ended in time.
async fn wait(process: &mut Process) -> Value {
    let begun = Instant::now();
    loop {
        if let Some(code) = process.exit_code() {
            process.read_all().await;
            return json!({"exitCode": code, "output": process.last_output()});
        }
        if begun.elapsed() > PATIENCE {
            return json!({"output": process.last_output()});
        }
        sleep(PAUSE).await;
    }
}
