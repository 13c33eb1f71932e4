//! The binary `gardener-controlplane-webhooks`.

use std::process::ExitCode;

/// A review is many small allocations that live for microseconds.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    controlplane_webhooks::command::main(std::env::args_os())
}
