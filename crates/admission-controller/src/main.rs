//! The binary `gardener-admission-controller`.

use std::process::ExitCode;

/// A review is many small allocations that live for microseconds.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    gardener_admission_controller::command::main(std::env::args_os())
}
