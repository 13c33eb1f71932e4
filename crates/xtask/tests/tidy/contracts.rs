//! Contracts: small files, a module for each behaviour of ours, every clause named in code, suites that exist.

use std::collections::BTreeSet;

use crate::tree::{File, files, none, root};

const LINES: usize = 200;
/// The part of a component's contracts that speaks of versions, and the room that decides them.
const DECISIONS: &str = "versions";
/// How ids of clauses begin: the component that they are about.
const PREFIXES: [&str; 3] = ["GCM-", "GDN-", "GRM-"];

#[test]
fn contract_files_are_small() {
    let contracts = behaviours().into_iter().filter(|file| file.text.lines().count() > LINES);
    none(
        &contracts
            .map(|file| format!("{}: {} lines, at most {LINES}", file.path, file.text.lines().count()))
            .collect::<Vec<_>>(),
    );
}

#[test]
fn every_behaviour_of_our_components_has_a_module() {
    let missing = |file: &File| {
        let (component, part, behaviour) = place(file)?;
        // What a garden decides about versions is decided in a room of its own, which its components share.
        let (component, part) = if part == DECISIONS { (DECISIONS, "") } else { (component, part) };
        let source = root().join("crates").join(component).join("src");
        // All of a component's configuration is one behaviour, of the module `config`.
        let (part, behaviour) = if part == "configuration" { ("", "config") } else { (part, behaviour) };
        if !source.exists() || behaviour == "answers" {
            return None;
        }
        // A contract has its name alone: that of a controller beside a webhook of the same name says so.
        let behaviour = behaviour.strip_suffix("-controller").unwrap_or(behaviour);
        let module = source.join(part).join(behaviour.replace('-', "_"));
        let there = module.with_extension("rs").exists() || module.join("mod.rs").exists();
        (!there).then(|| format!("{}: no module {}", file.path, module.display()))
    };
    none(&behaviours().iter().filter_map(missing).collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>());
}

#[test]
fn every_clause_is_named_in_code() {
    let named = named_ids();
    let unnamed = |file: &File| -> Vec<String> {
        let missing = ids(&file.text).into_iter().filter(|id| !named.contains(id));
        missing.map(|id| format!("{}: no code names {id}", file.path)).collect()
    };
    let ours = behaviours().into_iter().filter(|file| {
        place(file).is_some_and(|(component, part, _)| {
            part == DECISIONS || root().join("crates").join(component).exists()
        })
    });
    none(&ours.collect::<Vec<_>>().iter().flat_map(unnamed).collect::<Vec<_>>());
}

#[test]
fn clause_ids_are_unique() {
    let mut seen = BTreeSet::new();
    let again = |file: &File| -> Vec<String> {
        let twice = ids(&file.text).into_iter().filter(|id| !seen.insert(id.clone()));
        twice.map(|id| format!("{}: {id} is taken", file.path)).collect()
    };
    none(&behaviours().iter().flat_map(again).collect::<Vec<_>>());
}

/// The contract files: contracts/<component>/<webhooks|controllers|objects|configuration|versions>/….
fn behaviours() -> Vec<File> {
    let yaml = files(".yaml").into_iter();
    yaml.filter(|file| file.path.starts_with("contracts/") && place(file).is_some()).collect()
}

/// Component, part and behaviour that a contract file's path names.
fn place(file: &File) -> Option<(&str, &str, &str)> {
    let parts: Vec<&str> = file.path.trim_end_matches(".yaml").split('/').collect();
    match parts.as_slice() {
        [
            "contracts",
            component,
            part @ ("webhooks" | "controllers" | "objects" | "configuration" | DECISIONS),
            behaviour,
            ..,
        ] => Some((component, part, behaviour)),
        _ => None,
    }
}

fn ids(contract: &str) -> Vec<String> {
    let declared = contract.lines().filter_map(|line| line.trim_start().strip_prefix("- id: "));
    declared.map(|id| id.trim().to_owned()).collect()
}

/// Ids that code names, one by one or as a range: `GRM-HAC-001`, `GRM-HAC-002 to -007`.
fn named_ids() -> BTreeSet<String> {
    let code = files(".rs").into_iter().filter(|file| !file.path.starts_with("crates/xtask"));
    code.flat_map(|file| named_in(&file.text)).collect()
}

fn named_in(code: &str) -> BTreeSet<String> {
    let mut named = BTreeSet::new();
    for (at, _) in PREFIXES.iter().flat_map(|prefix| code.match_indices(prefix)) {
        let rest = &code[at..];
        let Some((prefix, first, rest)) = numbered(rest) else { continue };
        let last = rest.strip_prefix(" to -").and_then(|rest| rest.get(..3)?.parse().ok()).unwrap_or(first);
        named.extend((first..=last).map(|number| format!("{prefix}-{number:03}")));
    }
    named
}

/// `GRM-HAC`, 1 and what follows, of `GRM-HAC-001…`.
fn numbered(text: &str) -> Option<(&str, usize, &str)> {
    let (component, rest) = text.split_once('-')?;
    let (behaviour, number) = rest.split_once('-')?;
    let prefix = text.get(..component.len() + 1 + behaviour.len())?;
    Some((prefix, number.get(..3)?.parse().ok()?, number.get(3..)?))
}

#[test]
fn ranges_of_ids_are_read() {
    let named = named_in("/// GRM-HAC-001, and (GRM-EXV-009 to -011); GDN-UPD-003.");
    let wanted =
        ["GDN-UPD-003", "GRM-EXV-009", "GRM-EXV-010", "GRM-EXV-011", "GRM-HAC-001"].map(str::to_owned);
    assert_eq!(named, BTreeSet::from(wanted));
}
