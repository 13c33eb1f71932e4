//! The build script of every component: names the folder of its manifests, which the crate embeds, and has the crate built anew when a
//! file comes or goes.

#![expect(clippy::disallowed_methods, reason = "a build script is told what it builds by the environment")]

use std::{env, fs, io};

fn main() -> io::Result<()> {
    let package = env::var("CARGO_PKG_NAME").unwrap_or_default();
    let component = package.trim_start_matches("gardener-");
    let folder = fs::canonicalize(format!("../../kind/manifests/{component}"))?;
    println!("cargo::rerun-if-changed=../../kind/manifests/build.rs");
    println!("cargo::rerun-if-changed={}", folder.display());
    println!("cargo::rustc-env=MANIFESTS={}", folder.display());
    Ok(())
}
