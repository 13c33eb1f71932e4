//! CI: each step is a file, is run, and is explained in CONTRIBUTING.md, in the same order.

use std::collections::BTreeSet;
use std::fs;

use crate::tree::root;

#[test]
fn steps_are_files_that_are_run_and_explained() {
    let read = |path: &str| fs::read_to_string(root().join(path)).expect("it is there");
    let listed = fs::read_dir(root().join(".ci/steps")).expect("it is there");
    let files: BTreeSet<String> =
        listed.filter_map(Result::ok).map(|file| file.file_name().to_string_lossy().into_owned()).collect();
    let program = read(".ci/run");
    let run = program.lines().find_map(|line| line.strip_prefix("all=(")?.strip_suffix(')'));
    let run: Vec<&str> = run.expect("a line names all steps").split(' ').collect();
    assert_eq!(run.iter().map(|step| (*step).to_owned()).collect::<BTreeSet<_>>(), files);
    let text = read("CONTRIBUTING.md");
    let rows = text.lines().skip_while(|line| !line.starts_with("| step | what it proves"));
    let rows = rows.take_while(|line| line.starts_with('|'));
    let explained: Vec<&str> = rows.filter_map(|row| row.strip_prefix("| `")?.split('`').next()).collect();
    assert_eq!(explained, run);
}
