//! `env up`, `env down`, `env doctor`: a place where cases run, for kubectl and for a component under development.

mod crds;
mod doctor;
mod serve;
mod state;

use std::ffi::OsString;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::arguments::{Addition, CrdsFrom, EnvCommand, EnvUpArguments, SubstrateName};
use crate::terminal::{Failure, Terminal};
use crate::{envtest, kind};
use state::State;

/// How long a started environment may take until it serves.
const PATIENCE: Duration = Duration::from_secs(20);

/// Starts, stops or checks.
pub(crate) fn execute(command: EnvCommand, terminal: &Terminal) -> Result<u8, Failure> {
    match command {
        EnvCommand::Up(arguments) => up(&arguments, terminal),
        EnvCommand::Down { name } => down(&name, terminal),
        EnvCommand::Doctor => {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let runtime =
                runtime.map_err(|error| Failure::environment(format!("failed to start: {error}")))?;
            terminal.print(&runtime.block_on(doctor::diagnose()));
            Ok(0)
        }
    }
}

fn up(arguments: &EnvUpArguments, terminal: &Terminal) -> Result<u8, Failure> {
    if arguments.substrate == SubstrateName::Direct {
        return Err(Failure::usage("the substrate direct needs nothing started: use it with run or verify"));
    }
    fits(arguments)?;
    kind::fits(arguments.kind.is_said(), arguments.substrate, None)?;
    if !arguments.install.is_empty() && arguments.substrate != SubstrateName::Kind {
        return Err(Failure::usage("--install is for --substrate kind"));
    }
    if arguments.substrate == SubstrateName::Embedded && arguments.envtest.with.is_empty() {
        terminal.note(
            "no controllers run but that of namespaces: they get no ServiceAccount `default`, nothing is collected as \
             garbage; --with controller-manager starts them",
        );
    }
    let state = State::of(&arguments.name);
    if arguments.foreground {
        return serve::until_interrupted(arguments, &state, terminal);
    }
    if state.is_served() {
        terminal
            .note(&format!("already up; `gardener-conformance env down --name {}` stops it", arguments.name));
    } else {
        start(&state, arguments)?;
    }
    terminal.print(&state.kubeconfig().display().to_string());
    Ok(0)
}

/// Refuses what the substrate does not have.
fn fits(arguments: &EnvUpArguments) -> Result<(), Failure> {
    let substrate = arguments.substrate;
    if substrate == SubstrateName::Embedded {
        if arguments.envtest.data_dir.is_some() {
            return Err(Failure::usage("--data-dir is for --substrate envtest"));
        }
        return Ok(());
    }
    if !arguments.api_audiences.is_empty() {
        return Err(Failure::usage("--api-audiences is for --substrate embedded"));
    }
    if arguments.crds.is_some() && substrate == SubstrateName::Kind {
        return Err(Failure::usage("--crds is for --substrate embedded and envtest"));
    }
    envtest::fits(&arguments.envtest, substrate.word())
}

/// Starts this program again in the background and waits until it serves.
fn start(state: &State, arguments: &EnvUpArguments) -> Result<(), Failure> {
    state.clear()?;
    let program = std::env::current_exe()
        .map_err(|error| Failure::environment(format!("failed to find this program: {error}")))?;
    let log = state.create_log()?;
    let mut command = Command::new(program);
    command
        .args(["env", "up", "--foreground", "--name", &arguments.name])
        .args(of_substrate(arguments))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log);
    detach(&mut command);
    let mut child = command
        .spawn()
        .map_err(|error| Failure::environment(format!("failed to start the environment: {error}")))?;
    let patience = match arguments.substrate {
        SubstrateName::Embedded | SubstrateName::Direct => PATIENCE,
        SubstrateName::Envtest => envtest::PATIENCE + PATIENCE,
        SubstrateName::Kind => kind::PATIENCE * 3,
    };
    let begun = Instant::now();
    while begun.elapsed() < patience {
        if state.is_served() {
            return Ok(());
        }
        if let Ok(Some(status)) = child.try_wait() {
            return Err(Failure::environment(format!(
                "the environment ended at once ({status}): {}",
                state.last_words()
            )));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    // It never served; nobody else knows of it.
    let _ = child.kill();
    Err(Failure::environment(format!(
        "the environment does not serve after {patience:?}: {}",
        state.last_words()
    )))
}

/// The arguments that say which substrate.
fn of_substrate(arguments: &EnvUpArguments) -> Vec<OsString> {
    let mut typed: Vec<OsString> = Vec::new();
    typed.extend(["--substrate", arguments.substrate.word()].map(OsString::from));
    for Addition::ControllerManager in &arguments.envtest.with {
        typed.extend(["--with", "controller-manager"].map(OsString::from));
    }
    if let Some(folder) = &arguments.envtest.data_dir {
        typed.extend([OsString::from("--data-dir"), folder.clone().into_os_string()]);
    }
    match &arguments.crds {
        None => {}
        Some(CrdsFrom::Nowhere) => typed.extend(["--crds", "none"].map(OsString::from)),
        Some(CrdsFrom::Project) => typed.extend(["--crds", "gardener"].map(OsString::from)),
        Some(CrdsFrom::Folder(folder)) => {
            typed.extend([OsString::from("--crds"), folder.clone().into_os_string()]);
        }
    }
    for audience in &arguments.api_audiences {
        typed.extend(["--api-audiences", audience].map(OsString::from));
    }
    if let Some(zones) = &arguments.kind.zones {
        typed.extend(["--zones", zones].map(OsString::from));
    }
    for component in &arguments.install {
        typed.extend(["--install", component.name].map(OsString::from));
    }
    if let Some(folder) = &arguments.kind.logs {
        typed.extend([OsString::from("--logs"), folder.clone().into_os_string()]);
    }
    typed
}

/// A process group of its own, so that an interrupt in the shell does not reach it.
fn detach(command: &mut Command) {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    #[cfg(not(unix))]
    let _ = command;
}

fn down(name: &str, terminal: &Terminal) -> Result<u8, Failure> {
    let state = State::of(name);
    if !state.exists() {
        terminal.note(&format!("nothing is up under the name {name}"));
        return Ok(0);
    }
    // A cluster takes longer to go than a process.
    state.stop(PATIENCE * 6)?;
    state.clear()?;
    Ok(0)
}
