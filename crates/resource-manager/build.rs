//! Tells the linker how to lay out the released binary, so that it takes a third less memory.

#![expect(clippy::disallowed_methods, reason = "a build script is told what it builds by the environment")]

use std::path::Path;
use std::process::Command;
use std::{env, fs};

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=layout.txt");
    let told = |name: &str| env::var(name).unwrap_or_default();
    if told("PROFILE") != "release"
        || told("TARGET") != "x86_64-unknown-linux-gnu"
        || told("TARGET") != told("HOST")
    {
        return;
    }
    // Rust's own linker is the default for this target; others may not understand the layout.
    let other_linker = !told("RUSTC_LINKER").is_empty() || told("CARGO_ENCODED_RUSTFLAGS").contains("linker");
    if !other_linker && !told("CARGO_ENCODED_RUSTFLAGS").contains("fuse-ld") {
        let script = Path::new(&told("OUT_DIR")).join("layout.ld");
        fs::write(&script, layout(include_str!("layout.txt"))).expect("the folder for it is there");
        println!("cargo:rustc-link-arg-bins=-Wl,-T,{}", script.display());
    }
    // Addresses to be adjusted at start in a 24th of the space, where the C library that runs here knows how.
    if libc_version().is_some_and(|version| version >= (2, 36)) {
        println!("cargo:rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
}

/// A linker script that puts the functions of these names side by side, those called cold included.
fn layout(names: &str) -> String {
    let sections = names.lines().map(|name| format!("*(.text.{name} .text.unlikely.{name})\n"));
    format!("SECTIONS {{ .text.ran : {{\n{}}} }} INSERT BEFORE .text;\n", sections.collect::<String>())
}

/// Version of the GNU C library, such as 2.36.
fn libc_version() -> Option<(u32, u32)> {
    let output = Command::new("getconf").arg("GNU_LIBC_VERSION").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let (major, minor) = text.trim().strip_prefix("glibc ")?.split_once('.')?;
    Some((major.parse().ok()?, minor.split('.').next()?.parse().ok()?))
}
