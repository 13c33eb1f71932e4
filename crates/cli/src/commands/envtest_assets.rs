//! `envtest-assets`: writes a folder with programs that Go's envtest starts instead of kube-apiserver, etcd and kubectl.
//!
//! Each program is a link to this one, which reads from `argv[0]` which program to run as.

mod etcd;
mod folder;
mod kube_apiserver;
mod kubectl;
mod output;
mod program;
mod run;
mod version;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use crate::arguments::EnvtestAssetsArguments;
use crate::ending::Ending;
use crate::environment;
use crate::terminal::{Failure, Terminal};
use folder::Kubectl;
use program::Program;

/// Writes the folder and prints its path.
pub(crate) fn execute(arguments: &EnvtestAssetsArguments, terminal: &Terminal) -> Result<Ending, Failure> {
    let own = std::env::current_exe()
        .map_err(|error| Failure::environment(format!("failed to find this program: {error}")))?;
    let written = folder::write(&arguments.folder, &own, &environment::program_folders())?;
    version::write(&written.folder, arguments.kubernetes)?;
    terminal.note(&match &written.kubectl {
        Kubectl::Linked(path) => format!("kubectl is {}", path.display()),
        Kubectl::Missing => "kubectl is not in PATH: envtest starts, its kubectl fails".to_owned(),
    });
    terminal.print(&written.folder.display().to_string());
    Ok(Ending::done())
}

/// Runs as the program that `argv[0]` names; absent if that is not one of them.
pub(crate) fn run_as_asset(mut arguments: impl Iterator<Item = OsString>) -> Option<ExitCode> {
    let command = arguments.next()?;
    let program = Program::named(&command)?;
    let arguments = arguments.map(|argument| argument.to_string_lossy().into_owned()).collect();
    Some(run::run(program, Path::new(&command), arguments))
}
