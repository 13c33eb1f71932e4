//! Contracts: small files, a module for each behaviour of ours, every clause named in code, suites that exist.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use crate::tree::{File, files, none, root};
use xtask::components;

const LINES: usize = 200;
/// How ids of clauses about admission plugins of gardener-apiserver begin.
const PLUGINS: &str = "GPL-";
/// The part of a component's contracts about versions, and the folder that decides them.
const DECISIONS: &str = "versions";
/// The parts of a component's contracts that no module keeps: what Gardener emits is bound for no component of ours.
const EMITTED: &str = "objects";
/// The part of a component's contracts about its program: `command` keeps it with the libraries of all components.
const PROCESS: &str = "process";

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
        // A garden's decisions about versions are in a separate folder, which its components share.
        let (component, part) = if part == DECISIONS { (DECISIONS, "") } else { (component, part) };
        let source = root().join("crates").join(component).join("src");
        // All of a component's configuration is one behaviour, of the module `config`.
        let (part, behaviour) = if part == "configuration" { ("", "config") } else { (part, behaviour) };
        if !source.exists() || behaviour == "answers" || part == EMITTED || part == PROCESS {
            return None;
        }
        // A contract is identified by its name: that of a controller differs from that of a webhook.
        let behaviour = behaviour.strip_suffix("-controller").unwrap_or(behaviour);
        let module = |name: &str| source.join(part).join(name.replace('-', "_"));
        let is_there =
            |name: &str| module(name).with_extension("rs").exists() || module(name).join("mod.rs").exists();
        // A webhook may have several contracts, none of which has its name: each then names its webhook.
        let of_webhook = |webhook: &str| {
            let own = format!("contracts/{component}/{part}/{webhook}");
            is_there(webhook) && !root().join(&own).exists() && !root().join(own + ".yaml").exists()
        };
        let is_kept = is_there(behaviour) || webhook(&file.text).is_some_and(of_webhook);
        (!is_kept).then(|| format!("{}: no module {}", file.path, module(behaviour).display()))
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
            part != EMITTED && root().join("crates").join(component).exists()
        })
    });
    none(&ours.collect::<Vec<_>>().iter().flat_map(unnamed).collect::<Vec<_>>());
}

#[test]
fn code_names_no_clause_that_is_not_there() {
    let there: BTreeSet<String> = behaviours().iter().flat_map(|file| ids(&file.text)).collect();
    let strange = |file: &File| -> Vec<String> {
        let named = named_in(&file.text).into_iter().filter(|id| !there.contains(id));
        named.map(|id| format!("{}: no contract has {id}", file.path)).collect()
    };
    none(&code().iter().flat_map(strange).collect::<Vec<_>>());
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

/// The contract files: contracts/<component>/<webhooks|admission|controllers|objects|configuration|versions>/….
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
            part @ ("webhooks" | "admission" | "controllers" | "objects" | "configuration" | PROCESS
            | DECISIONS),
            behaviour,
            ..,
        ] => Some((component, part, behaviour)),
        _ => None,
    }
}

/// The webhook that a contract says it is about.
fn webhook(contract: &str) -> Option<&str> {
    let named = contract.lines().find_map(|line| line.trim_start().strip_prefix("target: {webhook: "))?;
    named.split([',', '}']).next()
}

/// How ids of clauses begin: `GRM-`.
fn prefixes() -> &'static [String] {
    static PREFIXES: LazyLock<Vec<String>> = LazyLock::new(|| {
        let components = components::all(&root()).expect("manifests describe the components");
        let of_components = components.into_iter().map(|component| format!("{}-", component.clauses));
        of_components.chain([PLUGINS.to_owned()]).collect()
    });
    &PREFIXES
}

/// The ids that a contract file declares, in order: of its clauses, and of rows of a table of flags, which may be of one clause.
fn ids(contract: &str) -> Vec<String> {
    let declared = contract.lines().filter_map(|line| {
        let line = line.trim_start();
        let row =
            line.strip_prefix("| ").filter(|row| prefixes().iter().any(|prefix| row.starts_with(prefix)));
        // The clause of another contract describes what a webhook may do with a flag.
        let row = row.filter(|row| !row.contains("| may add ") && !row.contains("| may change "));
        line.strip_prefix("- id: ").or(row).and_then(|rest| rest.split_whitespace().next())
    });
    let mut ids: Vec<String> = declared.map(str::to_owned).collect();
    ids.dedup();
    ids
}

/// Ids that code names, one by one or as a range: `GRM-HAC-001`, `GRM-HAC-002 to -007`.
fn named_ids() -> BTreeSet<String> {
    code().iter().flat_map(|file| named_in(&file.text)).collect()
}

fn code() -> Vec<File> {
    files(".rs").into_iter().filter(|file| !file.path.starts_with("crates/xtask")).collect()
}

fn named_in(code: &str) -> BTreeSet<String> {
    let mut named = BTreeSet::new();
    for (at, _) in prefixes().iter().flat_map(|prefix| code.match_indices(prefix)) {
        let is_inside = code[..at].ends_with(|before: char| before.is_ascii_alphanumeric() || before == '-');
        let Some((prefix, first, rest)) = numbered(&code[at..]).filter(|_| !is_inside) else { continue };
        let last = rest.strip_prefix(" to -").and_then(|rest| rest.get(..3)?.parse().ok()).unwrap_or(first);
        named.extend((first..=last).map(|number| format!("{prefix}-{number:03}")));
    }
    named
}

/// `GRM-HAC`, 1 and what follows, of `GRM-HAC-001…`; `CP`, 25 and what follows, of `CP-025…`.
fn numbered(text: &str) -> Option<(&str, usize, &str)> {
    let end = text.find(|of: char| of != '-' && !of.is_ascii_uppercase())?;
    let (prefix, number) = (text[..end].strip_suffix('-')?, &text[end..]);
    Some((prefix, number.get(..3)?.parse().ok()?, number.get(3..)?))
}

#[test]
fn ranges_of_ids_are_read() {
    let named =
        named_in("/// GRM-HAC-001, and (GRM-EXV-009 to -011); GDN-UPD-003, CP-025, of none: GCP-001, CP-1.");
    let wanted = ["CP-025", "GDN-UPD-003", "GRM-EXV-009", "GRM-EXV-010", "GRM-EXV-011", "GRM-HAC-001"]
        .map(str::to_owned);
    assert_eq!(named, BTreeSet::from(wanted));
}
