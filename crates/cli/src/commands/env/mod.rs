//! `env up`, `env down`, `env doctor`: API servers and clusters for kubectl and for a component under development.

mod crds;
mod doctor;
mod serve;
mod state;

use std::ffi::OsString;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::arguments::{Addition, CrdSource, EnvCommand, EnvUpArguments, SubstrateName};
use crate::ending::Ending;
use crate::terminal::{Failure, Terminal};
use crate::{envtest, kind};
use state::State;

/// How long an environment may take to serve.
const PATIENCE: Duration = Duration::from_secs(20);

/// Executes a command about environments.
pub(crate) fn execute(command: EnvCommand, terminal: &Terminal) -> Result<Ending, Failure> {
    match command {
        EnvCommand::Up(arguments) => up(&arguments, terminal),
        EnvCommand::Down { name } => down(&name, terminal),
        EnvCommand::Doctor => {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let runtime =
                runtime.map_err(|error| Failure::environment(format!("failed to start: {error}")))?;
            terminal.print(&runtime.block_on(doctor::diagnose()));
            Ok(Ending::done())
        }
    }
}

fn up(arguments: &EnvUpArguments, terminal: &Terminal) -> Result<Ending, Failure> {
    if arguments.substrate == SubstrateName::Direct {
        return Err(Failure::usage(
            "--substrate direct needs nothing started: use it with `run` or `verify`",
        ));
    }
    check_flags(arguments)?;
    kind::check_flags(arguments.kind.is_given(), arguments.substrate, None)?;
    if !arguments.install.is_empty() && arguments.substrate != SubstrateName::Kind {
        return Err(Failure::usage("--install is for --substrate kind"));
    }
    if is_embedded(arguments.substrate) && arguments.control_plane.with.is_empty() {
        terminal.note(
            "only the namespace controller runs: namespaces get no ServiceAccount `default`, and there is no garbage \
            collection; --with controller-manager starts the other controllers",
        );
    }
    let state = State::of(&arguments.name);
    if arguments.foreground {
        return serve::serve_until_interrupted(arguments, &state, terminal);
    }
    if state.is_served() {
        terminal.note(&format!(
            "the environment already runs; `gardener-conformance env down --name {}` stops it",
            arguments.name
        ));
    } else {
        start(&state, arguments)?;
    }
    terminal.print(&state.kubeconfig().display().to_string());
    Ok(Ending::done())
}

/// Whether the server runs in a process of this program.
fn is_embedded(substrate: SubstrateName) -> bool {
    matches!(substrate, SubstrateName::Embedded | SubstrateName::Garden)
}

/// Refuses flags that do not go with the substrate.
fn check_flags(arguments: &EnvUpArguments) -> Result<(), Failure> {
    let substrate = arguments.substrate;
    if is_embedded(substrate) {
        if arguments.control_plane.data_dir.is_some() {
            return Err(Failure::usage("--data-dir is for --substrate envtest"));
        }
        return serve::admission(arguments).map(drop);
    }
    if !arguments.api_audiences.is_empty() {
        return Err(Failure::usage("--api-audiences is for --substrate embedded"));
    }
    if arguments.garden {
        return Err(Failure::usage("--garden is for --substrate embedded"));
    }
    if arguments.crds.is_some() && substrate == SubstrateName::Kind {
        return Err(Failure::usage("--crds is for --substrate embedded and envtest"));
    }
    envtest::check_flags(&arguments.control_plane, substrate.name())
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
        .args(substrate_arguments(arguments))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log);
    detach(&mut command);
    let mut child = command
        .spawn()
        .map_err(|error| Failure::environment(format!("failed to start the environment: {error}")))?;
    let patience = match arguments.substrate {
        SubstrateName::Embedded | SubstrateName::Garden | SubstrateName::Direct => PATIENCE,
        SubstrateName::Envtest => envtest::PATIENCE + PATIENCE,
        SubstrateName::Kind => kind::PATIENCE * 3,
    };
    let begun = Instant::now();
    while begun.elapsed() < patience {
        if state.is_served() {
            return Ok(());
        }
        let ended = child.try_wait();
        let ended = ended
            .map_err(|error| Failure::environment(format!("failed to watch the environment: {error}")))?;
        if let Some(status) = ended {
            let text =
                format!("the environment ended before it served ({status}): {}", state.last_log_line());
            // A mistake in the arguments is the user's, whichever process finds it.
            let code = if status.code() == Some(2) { 2 } else { 3 };
            return Err(Failure { code, text });
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    // Nothing else would stop it, as it has written no state.
    let _ = child.kill();
    Err(Failure::environment(format!(
        "the environment does not serve after {patience:?}: {}",
        state.last_log_line()
    )))
}

/// The flags about the substrate, as the user gave them.
fn substrate_arguments(arguments: &EnvUpArguments) -> Vec<OsString> {
    let mut flags: Vec<OsString> = Vec::new();
    flags.extend(["--substrate", arguments.substrate.name()].map(OsString::from));
    if let Some(version) = arguments.control_plane.kubernetes {
        flags.extend(["--kubernetes".into(), version.to_string().into()]);
    }
    for Addition::ControllerManager in &arguments.control_plane.with {
        flags.extend(["--with", "controller-manager"].map(OsString::from));
    }
    if let Some(folder) = &arguments.control_plane.data_dir {
        flags.extend([OsString::from("--data-dir"), folder.clone().into_os_string()]);
    }
    match &arguments.crds {
        None => {}
        Some(CrdSource::None) => flags.extend(["--crds", "none"].map(OsString::from)),
        Some(CrdSource::Project) => flags.extend(["--crds", "gardener"].map(OsString::from)),
        Some(CrdSource::Folder(folder)) => {
            flags.extend([OsString::from("--crds"), folder.clone().into_os_string()]);
        }
    }
    if arguments.garden {
        flags.push("--garden".into());
    }
    for (flag, plugins) in [
        ("--enable-admission-plugins", &arguments.enable_admission_plugins),
        ("--disable-admission-plugins", &arguments.disable_admission_plugins),
    ] {
        flags.extend(plugins.iter().flat_map(|plugin| [flag, plugin.as_str()].map(OsString::from)));
    }
    if let Some(file) = &arguments.admission_control_config_file {
        flags.extend([OsString::from("--admission-control-config-file"), file.clone().into_os_string()]);
    }
    for audience in &arguments.api_audiences {
        flags.extend(["--api-audiences", audience].map(OsString::from));
    }
    if let Some(zones) = &arguments.kind.zones {
        flags.extend(["--zones", zones].map(OsString::from));
    }
    for component in &arguments.install {
        flags.extend(["--install", component.name].map(OsString::from));
    }
    if let Some(folder) = &arguments.kind.logs {
        flags.extend([OsString::from("--logs"), folder.clone().into_os_string()]);
    }
    flags
}

/// Puts the process into its own process group, so that an interrupt in the shell does not reach it.
fn detach(command: &mut Command) {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    #[cfg(not(unix))]
    let _ = command;
}

fn down(name: &str, terminal: &Terminal) -> Result<Ending, Failure> {
    let state = State::of(name);
    if !state.exists() {
        terminal.note(&format!("there is no environment {name}"));
        return Ok(Ending::done());
    }
    // Deleting a cluster takes longer than ending a process.
    state.stop(PATIENCE * 6)?;
    state.clear()?;
    Ok(Ending::done())
}
