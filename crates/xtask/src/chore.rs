//! The command line of `cargo xtask`.

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
    /// Build the pinned kube-apiserver, etcd and kubectl, unless they are in the cache, and print their folder
    ControlPlane(control_plane::BuildArguments),
    /// Build the release programs, each in its own build, in target/dist
    Dist,
    /// Start a private Docker engine if no engine runs, or stop it
    Engine(engine::Arguments),
    /// Build container images of our components, and print their names and sizes
    Images(images::Arguments),
    /// Assemble the kind node image, unless it is in the cache, and print its name
    KindNode(kind_node::Arguments),
    /// Write the generated data about kinds, from a real kube-apiserver and from the types in crates/api
    Kinds(kinds::Arguments),
    /// Write the list of functions that a component runs, which the linker places next to each other
    Layout(layout::Arguments),
    /// Print the variables that cargo needs to build static programs, for a shell: eval "$(cargo xtask musl)"
    Musl(musl::Arguments),
    /// Change the code of components, and check that their contracts notice each change
    Mutants(mutants::Arguments),
    /// Measure commands with the contracts as they are and with a multiple of them
    Slope(slope::Arguments),
}

impl Chore {
    /// Runs the chore.
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

/// The root of the workspace, from the variable that cargo sets at run time: the program may have been built in another clone
/// that shares the target folder.
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
    fn the_command_line_is_valid() {
        Arguments::command().debug_assert();
    }
}
