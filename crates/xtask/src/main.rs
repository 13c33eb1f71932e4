//! `cargo xtask`: what is generated, measured or built for the project itself.

mod chore;
mod control_plane;
mod kinds;
mod layout;
mod mutants;

use clap::Parser as _;

fn main() -> anyhow::Result<()> {
    chore::Arguments::parse().chore.run()
}
