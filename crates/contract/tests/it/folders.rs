//! Folders with contracts: what is read, once, and what is reported about the rest.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use contract::source::{self, Sources};

fn read(folder: &Path) -> Sources {
    source::directory(folder).expect("the folder can be listed")
}

fn paths(sources: &Sources) -> Vec<&str> {
    sources.files.iter().map(|file| file.path.as_str()).collect()
}

fn errors(sources: &Sources) -> Vec<String> {
    let error = |error: &contract::document::Error| {
        let file = error.location.file.rsplit('/').next().unwrap_or_default();
        format!("{} {file}:{}:{}", error.code, error.location.line, error.location.column)
    };
    sources.errors.iter().map(error).collect()
}

#[test]
fn case_65_one_unreadable_file_does_not_hide_the_others() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.yaml"), "a: b\n").unwrap();
    fs::write(folder.path().join("b.yaml"), b"a: b\n  # caf\xe9\n").unwrap();
    fs::write(folder.path().join("c.yaml"), b"\xff\xfea\0").unwrap();
    symlink("nowhere.yaml", folder.path().join("d.yaml")).unwrap();
    fs::create_dir(folder.path().join("e.yaml")).unwrap();
    fs::write(folder.path().join("e.yaml/f.yml"), "a: b\n").unwrap();
    let sources = read(folder.path());
    assert_eq!(paths(&sources), ["contracts/a.yaml", "contracts/e.yaml/f.yml"]);
    assert_eq!(errors(&sources), ["unreadable d.yaml:1:1", "not-utf-8 b.yaml:2:8", "not-utf-8 c.yaml:1:1"]);
}

#[test]
fn case_67_what_adds_nothing_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::create_dir(path("empty")).unwrap();
    fs::write(path("zero.yaml"), "").unwrap();
    fs::write(path("comment.yaml"), "# later\n--- # still later\n...\n").unwrap();
    let emptiness = |name: &str| {
        let told = read(&path(name)).emptiness(Path::new(name));
        told.unwrap_or_default()
    };
    assert_eq!(emptiness("empty"), "empty contains no file *.yaml or *.yml");
    assert_eq!(emptiness("zero.yaml"), "zero.yaml contains no document");
    assert_eq!(emptiness("comment.yaml"), "comment.yaml contains no document");
    assert_eq!(emptiness("."), "none of the 2 files in . contains a document");
    fs::write(path("X.YAML"), "a: b\n").unwrap();
    assert_eq!(emptiness("."), "");
    assert_eq!(
        paths(&read(folder.path())),
        ["contracts/X.YAML", "contracts/comment.yaml", "contracts/zero.yaml"]
    );
}

#[test]
fn case_68_each_folder_is_read_once_whatever_links_lead_to_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::create_dir_all(path("loop/a/b")).unwrap();
    symlink("..", path("loop/a/up")).unwrap();
    symlink("../..", path("loop/a/further-up")).unwrap();
    symlink("b", path("loop/a/again")).unwrap();
    symlink("b/y.yaml", path("loop/a/again.yaml")).unwrap();
    symlink("../outside", path("loop/z")).unwrap();
    for name in ["loop/a/x.yaml", "loop/a/b/y.yaml"] {
        fs::write(path(name), "a: b\n").unwrap();
    }
    for name in ["loop/.git", "loop/node_modules/x", "outside"] {
        fs::create_dir_all(path(name)).unwrap();
        fs::write(path(name).join("z.yaml"), "a: b\n").unwrap();
    }
    let sources = read(&path("loop"));
    assert_eq!(paths(&sources), ["contracts/a/b/y.yaml", "contracts/a/x.yaml", "contracts/z/z.yaml"]);
    assert_eq!(errors(&sources), Vec::<String>::new());
}
