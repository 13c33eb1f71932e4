//! `gardener-conformance`: verifies that Gardener components keep their contracts.

mod arguments;
mod catalog;
mod commands;
mod components;
mod ending;
mod environment;
mod envtest;
mod kind;
mod kubeconfig;
mod options;
mod progress;
mod runtime;
mod session;
mod signals;
mod targets;
mod terminal;

use std::process::ExitCode;

/// Cases allocate many small objects that live for microseconds.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    commands::run_as_asset(std::env::args_os())
        .or_else(|| components::run_as_program(std::env::args_os()))
        .unwrap_or_else(commands::run)
}
