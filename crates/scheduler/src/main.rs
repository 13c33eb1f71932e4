//! The binary `gardener-scheduler`.

use std::process::ExitCode;

fn main() -> ExitCode {
    gardener_scheduler::command::main(std::env::args_os())
}
