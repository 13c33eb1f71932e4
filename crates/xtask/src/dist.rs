//! `cargo xtask dist`: the programs that ship, in target/dist.

use std::process::Command;

use anyhow::Result;

use crate::chore::root;
use crate::program;
use xtask::components;

/// The package of the tool.
const TOOL: &str = "cli";

/// Builds the tool and each component alone: built together, each would carry what another asks of the libraries.
pub(crate) fn run() -> Result<()> {
    let root = root();
    let components = components::all(&root)?;
    for package in components.iter().map(|component| component.package.as_str()).chain([TOOL]) {
        let mut cargo = Command::new("cargo");
        cargo.args(["build", "--profile", "dist", "--package", package, "--bins"]).current_dir(&root);
        program::run(&mut cargo)?;
    }
    Ok(())
}
