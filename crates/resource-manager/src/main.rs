//! The binary `gardener-resource-manager`.

use std::process::ExitCode;

use gardener_resource_manager::command;

/// A review is many small allocations that live for microseconds.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    command::memory::return_freed_memory_immediately();
    command::main(std::env::args_os())
}
