//! The binary `gardener-garden-admission`.

use std::process::ExitCode;

/// A review is many small allocations that live for microseconds.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    gardener_garden::command::main(std::env::args_os())
}
