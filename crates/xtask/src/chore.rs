//! Which chores there are.

use std::path::{Path, PathBuf};

use clap::{Parser, Subcommand};

use crate::{control_plane, dist, engine, images, kind_node, kinds, layout, musl, mutants, slope};

/// Chores of the project.
#[derive(Parser)]
#[command(name = "cargo xtask")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) chore: Chore,
}

#[derive(Subcommand)]
pub(crate) enum Chore {
    /// Build the pinned kube-apiserver, etcd and kubectl once, print their folder
    ControlPlane(control_plane::Arguments),
    /// Build the programs that ship, each alone, in target/dist
    Dist,
    /// Start a private Docker engine where none runs, or stop it
    Engine(engine::Arguments),
    /// Build our components into container images, print names and sizes
    Images(images::Arguments),
    /// Assemble the kind node image once, print its name
    KindNode(kind_node::Arguments),
    /// Write what crates/schema knows of kinds, from a real server and from crates/schema/crds
    Kinds(kinds::Arguments),
    /// Write which functions of a component run, for the linker to put side by side
    Layout(layout::Arguments),
    /// Print what cargo needs to build static programs, for a shell: eval "$(cargo xtask musl)"
    Musl(musl::Arguments),
    /// Change a component's code, one place at a time, and see its contracts notice
    Mutants(mutants::Arguments),
    /// Measure commands with the contracts once and many times
    Slope(slope::Arguments),
}

impl Chore {
    /// Does it.
    pub(crate) fn run(&self) -> anyhow::Result<()> {
        match self {
            Self::ControlPlane(arguments) => control_plane::run(arguments),
            Self::Dist => dist::run(),
            Self::Engine(arguments) => engine::run(arguments),
            Self::Images(arguments) => images::run(arguments),
            Self::KindNode(arguments) => kind_node::run(arguments),
            Self::Kinds(arguments) => kinds::run(arguments),
            Self::Layout(arguments) => layout::run(arguments),
            Self::Musl(arguments) => musl::run(arguments),
            Self::Mutants(arguments) => mutants::run(arguments),
            Self::Slope(arguments) => slope::run(arguments),
        }
    }
}

/// The folder of the workspace that runs this: cargo says it at run time. What was built may lie in a folder that several
/// clones share, so the place where that was does not tell.
pub(crate) fn root() -> PathBuf {
    let package =
        std::env::var_os("CARGO_MANIFEST_DIR").map_or(env!("CARGO_MANIFEST_DIR").into(), PathBuf::from);
    package.ancestors().nth(2).unwrap_or(Path::new(".")).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn the_command_line_is_sound() {
        Arguments::command().debug_assert();
    }
}
