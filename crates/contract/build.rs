//! Writes the list of every contract file of the repository, so that the binary carries them.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{fs, io};

fn main() -> io::Result<()> {
    // Asked for at run time: of two clones with one target folder, the other's would be compiled in.
    let package = PathBuf::from(cargo_says("CARGO_MANIFEST_DIR")?);
    let root = package.join("../../contracts");
    let mut files = Vec::new();
    gather(&root, &mut files)?;
    files.sort();
    let mut list = String::from("&[\n");
    for file in files {
        let name = file.strip_prefix(&root).map_err(io::Error::other)?;
        let name: Vec<_> = name.iter().map(|part| part.to_string_lossy()).collect();
        let path = fs::canonicalize(&file)?;
        let path = path.to_string_lossy();
        let _ = writeln!(list, "(\"contracts/{}\", include_str!({path:?})),", name.join("/"));
    }
    list.push(']');
    fs::write(PathBuf::from(cargo_says("OUT_DIR")?).join("contracts.rs"), list)
}

fn cargo_says(name: &str) -> io::Result<std::ffi::OsString> {
    std::env::var_os(name).ok_or_else(|| io::Error::other(format!("cargo sets {name}")))
}

fn gather(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    println!("cargo::rerun-if-changed={}", folder.display());
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            gather(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "yaml") {
            println!("cargo::rerun-if-changed={}", path.display());
            files.push(path);
        }
    }
    Ok(())
}
