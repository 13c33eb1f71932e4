//! The binary `gardener-controller-manager`.

use std::process::ExitCode;

fn main() -> ExitCode {
    gardener_controller_manager::command::main(std::env::args_os())
}
