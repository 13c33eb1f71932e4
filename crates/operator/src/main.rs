//! The binary `gardener-operator`.

use std::process::ExitCode;

fn main() -> ExitCode {
    (gardener_operator::COMPONENT.main)(std::env::args_os().collect())
}
