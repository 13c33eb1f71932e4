//! The binary `gardener-controller-manager`.

use std::process::ExitCode;

fn main() -> ExitCode {
    (gardener_controller_manager::COMPONENT.main)(std::env::args_os().collect())
}
