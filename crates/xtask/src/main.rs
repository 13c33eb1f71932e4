//! `cargo xtask`: the project's own chores.

mod cache;
mod chore;
mod control_plane;
mod dist;
mod engine;
mod go;
mod images;
mod kind_cli;
mod kind_node;
mod kinds;
mod layout;
mod musl;
mod mutants;
mod program;
mod slope;
mod tools;

use clap::Parser as _;

fn main() -> anyhow::Result<()> {
    chore::Arguments::parse().chore.run()
}
