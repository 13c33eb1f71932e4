//! JSON that others wrote is read by `formats::json`, as Go reads it; the library's readers are named in these files only.

use crate::tree::{File, files, none};

/// Words of the library's readers.
const READERS: [&str; 5] = [
    "serde_json::from_str",
    "serde_json::from_slice",
    "serde_json::from_reader",
    "serde_json::Deserializer",
    "serde_json::StreamDeserializer",
];

/// Files, or folders, that may use them, and why.
const MAY: [(&str, &str); 16] = [
    ("crates/formats/", "this is the room that reads for all others"),
    ("crates/xtask/", "reads what tools of this project and its build print"),
    ("crates/schema/src/", "reads data that is generated and compiled in"),
    ("crates/apiserver/src/access/authorization/bootstrap.rs", "reads data that is compiled in"),
    ("crates/apiserver/src/seed/post_start_hooks/mod.rs", "reads data that is compiled in"),
    (
        "crates/apiserver/src/apply/element.rs",
        "keys of fieldsV1 are read by a library of their own in Go, too",
    ),
    ("crates/apiserver/src/store/object.rs", "reads a text that it has written"),
    ("crates/apiserver/src/verbs/scale.rs", "reads what this server has just written"),
    ("crates/conformance/src/report/write.rs", "reads reports of this project"),
    ("crates/contract/src/parameters.rs", "reads parameters of people of this project"),
    ("crates/controller/src/log.rs", "reads fields that the log has just written"),
    ("crates/fidelity/src/normalize.rs", "compares what two servers wrote, to the digit"),
    ("crates/resource-manager/src/controllers/managed_resource/live.rs", "reads a text that it has written"),
    (
        "crates/resource-manager/src/controllers/network_policy/annotations.rs",
        "the error shows the text; a list of ports has nothing that libraries read differently",
    ),
    ("crates/substrate/src/docker/engine.rs", "reads what the docker program prints"),
    (
        "crates/webhook/src/review.rs",
        "kube-apiserver writes reviews; their objects stay raw, and formats reads those",
    ),
];

#[test]
fn json_from_outside_is_read_by_formats() {
    let found = |file: &File| -> Vec<String> {
        let lines = own_lines(&file.text);
        let named = lines.filter(|(_, line)| READERS.iter().any(|reader| line.contains(reader)));
        named.map(|(number, _)| format!("{}:{number}: use formats::json", file.path)).collect()
    };
    let judged = files(".rs").into_iter().filter(|file| is_program(&file.path) && !is_allowed(&file.path));
    none(&judged.flat_map(|file| found(&file)).collect::<Vec<_>>());
}

#[test]
fn each_exception_is_needed() {
    let all = files(".rs");
    let is_needed = |allowed: &str| {
        let mut within = all.iter().filter(|file| file.path.starts_with(allowed));
        within.any(|file| {
            READERS
                .iter()
                .chain(&["serde_json::Error", "Deserializer::from_"])
                .any(|reader| file.text.contains(reader))
        })
    };
    let stale = MAY.iter().filter(|(allowed, _)| !is_needed(allowed));
    none(&stale.map(|(allowed, _)| format!("{allowed}: reads no JSON any more")).collect::<Vec<_>>());
}

/// Numbered lines before the tests of a file.
fn own_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines()
        .enumerate()
        .take_while(|(_, line)| *line != "#[cfg(test)]")
        .map(|(index, line)| (index + 1, line))
}

fn is_program(path: &str) -> bool {
    path.starts_with("crates/")
        && path.contains("/src/")
        && !path.ends_with("tests.rs")
        && !path.contains("/tests/")
}

fn is_allowed(path: &str) -> bool {
    MAY.iter().any(|(allowed, _)| path.starts_with(allowed))
}
