//! Manifests: versions in one place, lints everywhere, dependencies that point down.

use crate::tree::{File, files, none};

/// Who may know whom: a room and the rooms it may depend on (development dependencies apart).
const MAY_KNOW: [(&str, &[&str]); 17] = [
    ("formats", &[]),
    ("api", &[]),
    ("versions", &["api", "formats"]),
    ("schema", &[]),
    ("secrets", &["formats"]),
    ("contract", &["formats", "schema"]),
    ("contracts", &["contract"]),
    ("webhook", &["formats"]),
    ("controller", &["formats", "webhook"]),
    ("apiserver", &["formats", "schema", "webhook"]),
    ("substrate", &["apiserver", "formats", "schema", "webhook"]),
    ("fidelity", &["formats"]),
    ("component", &["controller", "webhook"]),
    (
        "conformance",
        &["apiserver", "component", "contract", "controller", "formats", "schema", "substrate", "webhook"],
    ),
    // Its program gardener-apiserver is an API server.
    ("garden", &["api", "apiserver", "component", "controller", "formats", "schema", "versions", "webhook"]),
    ("cli", &["*"]),
    ("xtask", &["*"]),
];
/// The rooms that a component may depend on: no other component, and nothing that verifies one.
const COMPONENT_MAY_KNOW: &[&str] =
    &["api", "component", "controller", "formats", "schema", "secrets", "versions", "webhook"];

#[test]
fn every_room_is_known() {
    let unknown = |file: &&File| allowed(file).is_none();
    let text = |file: &File| {
        format!("{}: say in tidy whom this room may know, or describe it as a component", file.path)
    };
    none(&manifests().iter().filter(unknown).map(text).collect::<Vec<_>>());
}

#[test]
fn dependencies_point_down() {
    let rooms: Vec<String> = manifests().iter().map(room_of).collect();
    let sideways = |file: &File| -> Vec<String> {
        let (room, allowed) = (room_of(file), allowed(file).unwrap_or_default());
        let known = dependencies(&file.text).into_iter().filter(|name| rooms.contains(name));
        let refused = known.filter(|name| !allowed.contains(&name.as_str()) && !allowed.contains(&"*"));
        refused.map(|name| format!("{}: {room} must not know {name}", file.path)).collect()
    };
    none(&manifests().iter().flat_map(sideways).collect::<Vec<_>>());
}

/// The crates that a crate may depend on; none by default.
fn allowed(file: &File) -> Option<&'static [&'static str]> {
    let room = room_of(file);
    let listed = MAY_KNOW.iter().find(|(name, _)| *name == room).map(|(_, allowed)| *allowed);
    listed.or_else(|| file.text.contains("[package.metadata.component]").then_some(COMPONENT_MAY_KNOW))
}

#[test]
fn versions_stand_in_one_place() {
    let own_version = |file: &File| -> Vec<String> {
        let versioned = |line: &&str| {
            let line = line.trim();
            line.starts_with(|c: char| c.is_ascii_lowercase())
                && (line.contains("version = \"")
                    || line
                        .split_once(" = \"")
                        .is_some_and(|(_, rest)| rest.starts_with(|c: char| c.is_ascii_digit())))
        };
        file.text.lines().filter(versioned).map(|line| format!("{}: {line}", file.path)).collect()
    };
    none(&manifests().iter().flat_map(own_version).collect::<Vec<_>>());
}

#[test]
fn every_crate_obeys_the_lints() {
    let free = |file: &&File| !file.text.contains("[lints]\nworkspace = true");
    none(
        &manifests()
            .iter()
            .filter(free)
            .map(|file| format!("{}: no workspace lints", file.path))
            .collect::<Vec<_>>(),
    );
}

fn manifests() -> Vec<File> {
    files("Cargo.toml").into_iter().filter(|file| file.path.starts_with("crates/")).collect()
}

fn room_of(file: &File) -> String {
    file.path.split('/').nth(1).unwrap_or_default().to_owned()
}

/// Names in `[dependencies]`, our own crates by their folder.
fn dependencies(manifest: &str) -> Vec<String> {
    let section =
        manifest.split("\n[").find(|section| section.starts_with("dependencies]")).unwrap_or_default();
    let names = section.lines().skip(1).filter_map(|line| line.split(['.', ' ', '=']).next());
    names
        .filter(|name| !name.is_empty())
        .map(|name| name.trim_start_matches("gardener-").to_owned())
        .collect()
}
