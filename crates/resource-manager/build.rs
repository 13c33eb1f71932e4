//! Gives the linker a layout for the released binary, so that it needs little more than half the memory.

#![expect(
    clippy::disallowed_methods,
    reason = "cargo describes the build to a build script in environment variables"
)]

use std::path::Path;
use std::{env, fs};

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=layout.txt");
    // The crate embeds the manifests; rebuild it when a file is added or removed.
    let manifests =
        fs::canonicalize("../../kind/manifests/resource-manager").expect("the manifests are there");
    println!("cargo:rerun-if-changed={}", manifests.display());
    println!("cargo:rustc-env=MANIFESTS={}", manifests.display());
    let variable = |name: &str| env::var(name).unwrap_or_default();
    if variable("PROFILE") != "release"
        || variable("TARGET") != "x86_64-unknown-linux-gnu"
        || variable("TARGET") != variable("HOST")
    {
        return;
    }
    // Rust's own linker is the default for this target; others may not support the layout.
    let other_linker =
        !variable("RUSTC_LINKER").is_empty() || variable("CARGO_ENCODED_RUSTFLAGS").contains("linker");
    if !other_linker && !variable("CARGO_ENCODED_RUSTFLAGS").contains("fuse-ld") {
        let script = Path::new(&variable("OUT_DIR")).join("layout.ld");
        fs::write(&script, layout(include_str!("layout.txt"))).expect("the folder for it is there");
        println!("cargo:rustc-link-arg-bins=-Wl,-T,{}", script.display());
    }
    // A fixed address, as the original has: otherwise 0.6 MiB of addresses are relocated at start, in private memory.
    println!("cargo:rustc-link-arg-bins=-no-pie");
}

/// A linker script that places the functions with these names side by side, including cold ones, and code that C runs
/// at start and exit.
fn layout(names: &str) -> String {
    let sections = names.lines().map(|name| {
        let parts: &[&str] =
            if name.starts_with("_R") { &["", "unlikely."] } else { &["", "unlikely.", "startup.", "exit."] };
        let sections: Vec<String> = parts.iter().map(|part| format!(".text.{part}{name}")).collect();
        format!("*({})\n", sections.join(" "))
    });
    format!("SECTIONS {{ .text.ran : {{\n{}}} }} INSERT BEFORE .text;\n", sections.collect::<String>())
}
