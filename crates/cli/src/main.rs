//! `gardener-conformance`: verifies that Gardener components keep their contracts.

mod arguments;
mod catalog;
mod commands;
mod components;
mod environment;
mod envtest;
mod kind;
mod options;
mod progress;
mod session;
mod signals;
mod targets;
mod terminal;

/// Cases are many small objects that live for microseconds.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    if let Some(code) = commands::run_as_asset(std::env::args_os()) {
        return code;
    }
    let arguments = <arguments::Arguments as clap::Parser>::parse();
    let terminal = terminal::Terminal::new(&arguments.output);
    let executed = commands::execute(arguments, &terminal);
    executed.map_or_else(|failure| terminal.failure(&failure), Into::into)
}
