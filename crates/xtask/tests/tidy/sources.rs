//! Rust sources: size, first line, names, and what they must not contain.

use crate::tree::{File, files, none};

const LINES: usize = 400;
const LINES_WITH_TESTS: usize = 600;
const VAGUE: [&str; 7] = ["utils", "util", "helpers", "helper", "common", "misc", "core"];

#[test]
fn sources_are_small() {
    let too_long = |file: &File| {
        let total = file.text.lines().count();
        let code = file.text.lines().take_while(|line| line.trim() != "#[cfg(test)]").count();
        let limit = match file.path.rsplit('/').next() {
            Some("lib.rs") => Some((code, 60)),
            Some("main.rs") if file.path.contains("/src/") => Some((code, 30)),
            Some("tests.rs") => Some((total, LINES_WITH_TESTS)),
            _ if file.path.contains("/tests/") => Some((total, LINES_WITH_TESTS)),
            _ if total > LINES_WITH_TESTS => Some((total, LINES_WITH_TESTS)),
            _ => Some((code, LINES)),
        };
        limit
            .filter(|(lines, most)| lines > most)
            .map(|(lines, most)| format!("{}: {lines} lines, at most {most}", file.path))
    };
    none(&rust().iter().filter_map(too_long).collect::<Vec<_>>());
}

#[test]
fn sources_say_first_what_they_are() {
    let silent = |file: &&File| !file.text.starts_with("//! ");
    none(
        &rust()
            .iter()
            .filter(silent)
            .map(|file| format!("{}: starts without `//! `", file.path))
            .collect::<Vec<_>>(),
    );
}

#[test]
fn names_say_something() {
    let vague =
        |file: &&File| file.path.trim_end_matches(".rs").split('/').skip(2).any(|part| VAGUE.contains(&part));
    none(
        &rust()
            .iter()
            .filter(vague)
            .map(|file| format!("{}: a name that says nothing", file.path))
            .collect::<Vec<_>>(),
    );
}

#[test]
fn nothing_is_left_for_later() {
    // Spelt in parts so that this file does not find itself.
    let marks = [
        ["TO", "DO"],
        ["FIX", "ME"],
        ["XX", "X:"],
        ["todo", "!("],
        ["unimplemented", "!("],
        ["#[", "ignore"],
    ]
    .map(|parts| parts.concat());
    let found = |file: &File| -> Vec<String> {
        let marked = |line: &str| marks.iter().any(|mark| line.contains(mark.as_str()));
        let lines = file.text.lines().enumerate().filter(|(_, line)| marked(line));
        lines.map(|(number, line)| format!("{}:{}: {}", file.path, number + 1, line.trim())).collect()
    };
    none(&rust().iter().flat_map(found).collect::<Vec<_>>());
}

#[test]
fn lines_end_where_their_text_ends() {
    let trailing = |file: &File| -> Vec<String> {
        let lines = file.text.lines().enumerate().filter(|(_, line)| line.ends_with([' ', '\t']));
        lines
            .map(|(number, _)| format!("{}:{}: blank at the end of the line", file.path, number + 1))
            .collect()
    };
    let all = [".rs", ".toml", ".yaml", ".md", "Makefile"]
        .iter()
        .flat_map(|suffix| files(suffix))
        .collect::<Vec<_>>();
    none(&all.iter().flat_map(trailing).collect::<Vec<_>>());
}

fn rust() -> Vec<File> {
    files(".rs")
        .into_iter()
        .filter(|file| file.path.starts_with("crates/") || file.path.starts_with("benches/"))
        .collect()
}
