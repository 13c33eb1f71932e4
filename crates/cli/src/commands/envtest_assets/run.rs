//! Runs a program of the folder.

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use super::program::Program;
use super::{etcd, kube_apiserver, kubectl, version};

/// Runs the program, which was started as `command`; an error is one line on standard error.
pub(super) fn run(program: Program, command: &Path, arguments: Vec<String>) -> ExitCode {
    let result = match program {
        Program::Etcd => etcd::run(arguments),
        Program::KubeApiserver => {
            version::of_program(command).and_then(|version| kube_apiserver::run(arguments, version))
        }
        Program::Kubectl => Err(kubectl::MISSING.to_owned()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            // A closed standard error is no reason for another exit code.
            let _ = writeln!(std::io::stderr(), "{}: {reason}", program.file_name());
            ExitCode::FAILURE
        }
    }
}
