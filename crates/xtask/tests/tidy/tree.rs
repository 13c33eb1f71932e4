//! The project's files as git tracks them, and how findings are printed.

use std::path::PathBuf;
use std::process::Command;

/// A tracked text file.
pub(crate) struct File {
    /// Path from the root, with `/`.
    pub(crate) path: String,
    /// Its content.
    pub(crate) text: String,
}

/// The root of the project that is tested: cargo says it at run time, as several clones may share what is built.
pub(crate) fn root() -> PathBuf {
    let package =
        std::env::var_os("CARGO_MANIFEST_DIR").map_or(env!("CARGO_MANIFEST_DIR").into(), PathBuf::from);
    package.join("../..").canonicalize().expect("the root exists")
}

/// All files that git tracks or would track, whose path ends in `suffix`, ordered by path.
pub(crate) fn files(suffix: &str) -> Vec<File> {
    let listed = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard"])
        .current_dir(root())
        .output()
        .expect("git lists files");
    let listed = String::from_utf8(listed.stdout).expect("paths are UTF-8");
    let mut paths: Vec<&str> = listed.lines().filter(|path| path.ends_with(suffix)).collect();
    paths.sort_unstable();
    paths.dedup();
    let read = |path: &str| std::fs::read_to_string(root().join(path)).ok();
    paths.iter().filter_map(|path| Some(File { path: (*path).to_owned(), text: read(path)? })).collect()
}

/// Fails with all findings at once.
pub(crate) fn none(findings: &[String]) {
    assert!(findings.is_empty(), "\n{}\n", findings.join("\n"));
}
