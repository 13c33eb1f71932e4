//! `cargo xtask`: what is generated, measured or built for the project itself.

use clap::{Parser, Subcommand};

/// Chores of the project.
#[derive(Parser)]
#[command(name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Subcommand)]
enum Chore {}

fn main() -> anyhow::Result<()> {
    match Arguments::parse().chore {}
}
