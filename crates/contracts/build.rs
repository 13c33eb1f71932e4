//! Generates the lists of all contract and suite files of the repository, which the library embeds.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// The file of a component's suite.
const SUITE: &str = "suite.yaml";

fn main() -> io::Result<()> {
    // Read at run time: two clones may share one target folder, and a compiled-in path could be that of the other clone.
    let root = PathBuf::from(cargo_variable("CARGO_MANIFEST_DIR")?).join("../..");
    let mut lists = String::new();
    let (mut contracts, mut suites) = (Vec::new(), Vec::new());
    collect_files(&root.join("contracts"), &mut contracts)?;
    collect_files(&root.join("suites"), &mut suites)?;
    // Files in subfolders of suites/ belong to programs.
    suites.retain(|file| file.parent() == Some(&root.join("suites")));
    // A component's suite is in the folder of its contracts.
    suites.extend(contracts.extract_if(.., |file| file.ends_with(SUITE)));
    for (constant, mut files) in [("CONTRACTS", contracts), ("SUITES", suites)] {
        files.sort();
        let _ = writeln!(lists, "const {constant}: &[(&str, &str)] = &[");
        for file in files {
            let name = file.strip_prefix(&root).map_err(io::Error::other)?;
            let name: Vec<_> = name.iter().map(|part| part.to_string_lossy()).collect();
            let path = fs::canonicalize(&file)?;
            let path = path.to_string_lossy();
            let _ = writeln!(lists, "({:?}, include_str!({path:?})),", name.join("/"));
        }
        lists.push_str("];\n");
    }
    fs::write(PathBuf::from(cargo_variable("OUT_DIR")?).join("files.rs"), lists)
}

fn cargo_variable(name: &str) -> io::Result<std::ffi::OsString> {
    std::env::var_os(name).ok_or_else(|| io::Error::other(format!("cargo did not set {name}")))
}

fn collect_files(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    println!("cargo::rerun-if-changed={}", folder.display());
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect_files(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "yaml") {
            println!("cargo::rerun-if-changed={}", path.display());
            files.push(path);
        }
    }
    Ok(())
}
