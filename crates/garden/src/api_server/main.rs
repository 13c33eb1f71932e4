//! The binary `gardener-apiserver`.

use std::process::ExitCode;

/// A request is many small allocations that live for microseconds.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    gardener_garden::api_server::command::main(std::env::args_os())
}
