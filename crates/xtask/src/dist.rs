//! `cargo xtask dist`: builds the release programs in target/dist.

use std::process::Command;

use anyhow::Result;

use crate::chore::root;
use crate::program;
use xtask::components;

/// The package of the tool.
const TOOL: &str = "cli";

/// Builds the tool and each component in its own build: in one build, cargo would enable in each the features of libraries that
/// only another needs.
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
