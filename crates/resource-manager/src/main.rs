//! The binary `gardener-resource-manager`.

use std::process::ExitCode;

fn main() -> ExitCode {
    gardener_resource_manager::command::main(std::env::args_os())
}
