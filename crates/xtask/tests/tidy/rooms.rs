//! What the harness and the contract language know of Gardener is in one folder of each crate.

use crate::tree::{File, files, none};

/// Crates, and the folders in them that may name kinds of Gardener.
const ROOMS: [(&str, &[&str]); 2] = [
    ("crates/conformance/src/", &["gardener", "differential/controllers"]),
    ("crates/contract/src/", &["gardener", "load/gardener"]),
];

/// Kinds that only Gardener has.
const KINDS: [&str; 6] =
    ["\"Shoot\"", "\"CloudProfile\"", "\"Seed\"", "\"ManagedResource\"", "\"Garden\"", "core.gardener.cloud"];

#[test]
fn kinds_of_gardener_are_named_in_one_room() {
    let mut findings = Vec::new();
    for (folder, rooms) in ROOMS {
        let is_outside = |file: &File| {
            file.path
                .strip_prefix(folder)
                .is_some_and(|path| !rooms.iter().any(|room| path.starts_with(room)))
        };
        for file in files(".rs").into_iter().filter(is_outside) {
            // Tests may use whatever objects show the point.
            let code = file.text.split("#[cfg(test)]").next().unwrap_or_default();
            let lines = code.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//"));
            for (number, line) in lines {
                let named = KINDS.iter().filter(|kind| line.contains(**kind));
                findings.extend(named.map(|kind| {
                    format!("{}:{}: {kind} belongs in {folder}{}", file.path, number + 1, rooms[0])
                }));
            }
        }
    }
    none(&findings);
}
