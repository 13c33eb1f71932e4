//! The binary `gardener-scheduler`.

use std::process::ExitCode;

fn main() -> ExitCode {
    (gardener_scheduler::COMPONENT.main)(std::env::args_os().collect())
}
