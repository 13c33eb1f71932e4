//! Files beside contracts that the user named: targets, policies, waivers, suites.

use std::path::Path;

use conformance::select;
use contract::document::{Error, SourceFile, policy, waivers};
use contract::index::Outline;
use contract::load::{closest, nearest};
use formats::yaml::{self, Node};

use super::files::NamedFiles;
use crate::catalog;
use crate::components;
use crate::targets::{self, KnownNames};
use crate::terminal::Failure;

/// The files by kind.
#[derive(Default)]
pub(super) struct OtherFiles {
    targets: Vec<SourceFile>,
    policies: Vec<SourceFile>,
    waivers: Vec<SourceFile>,
    suites: Vec<SourceFile>,
}

impl OtherFiles {
    /// Takes the files of these kinds out of the named ones.
    pub(super) fn take(named: &mut NamedFiles) -> Self {
        let mut others = Self::default();
        for file in std::mem::take(&mut named.files) {
            match catalog::kind(&file.text) {
                Some("Target") => others.targets.push(file),
                Some("GatePolicy") => others.policies.push(file),
                Some("Waivers") => others.waivers.push(file),
                Some("Suite") => others.suites.push(file),
                _ => named.files.push(file),
            }
        }
        others
    }

    pub(super) fn is_empty(&self) -> bool {
        let Self { targets, policies, waivers, suites } = self;
        [targets, policies, waivers, suites].iter().all(|files| files.is_empty())
    }

    /// The errors of all files, and what was checked. The names in them are those of the contracts and suites.
    pub(super) fn check(&self, added: Option<&Path>) -> Result<(Vec<Error>, Vec<String>), Failure> {
        if self.is_empty() {
            return Ok((Vec::new(), Vec::new()));
        }
        // Contracts with errors have their own errors; their names are still known if the built-in ones are.
        let index = catalog::index(added).or_else(|_| catalog::index(None))?;
        let suites: Vec<String> =
            catalog::suites(added)?.into_iter().map(|suite| suite.metadata.name).collect();
        let (mut found, mut checked) = (Vec::new(), Vec::new());
        for file in &self.targets {
            let known = KnownNames::new(index.contracts(), &suites);
            match targets::read_file(file) {
                Ok(read) => found.extend(targets::check_names(file, &read.spec, &known)),
                Err(error) => found.push(error),
            }
            checked.push(format!("{} (target)", file.path));
        }
        for file in &self.policies {
            let read = policy::read(file);
            found.extend(read.and_then(|read| policy::check(file, &read.spec, index.contracts())).err());
            checked.push(format!("{} (policy)", file.path));
        }
        for file in &self.waivers {
            match waivers::read(file) {
                Ok(read) => found.extend(unknown_clauses(file, &read, index.contracts())),
                Err(error) => found.push(error),
            }
            checked.push(format!("{} (waivers)", file.path));
        }
        for file in &self.suites {
            match select::read_suite(file) {
                Ok(_) => found.extend(unknown_entries(file, index.contracts())),
                Err(error) => found.push(error),
            }
            checked.push(format!("{} (suite)", file.path));
        }
        Ok((found, checked))
    }
}

/// Warnings about contracts whose component is not one of this project: `run` cannot start it.
pub(super) fn foreign_components(contracts: &[Outline], files: &[SourceFile]) -> Vec<Error> {
    let own = components::names();
    let known: Vec<String> = contracts::files()
        .iter()
        .filter_map(|file| file.path.split('/').nth(1).map(str::to_owned))
        .chain(own.iter().map(|name| (*name).to_owned()))
        .collect();
    let mut found = Vec::new();
    for contract in contracts.iter().filter(|contract| !known.contains(&contract.component)) {
        let name = &contract.component;
        let of_file = files.iter().find_map(|file| {
            let nodes = yaml::parse(&file.text).ok()?;
            let node = nodes.iter().find_map(|node| {
                let labels = node.get("metadata")?.get("labels")?;
                labels.get("component").filter(|node| node.as_str() == Some(name.as_str())).cloned()
            })?;
            Some(file.error(
                node.start,
                node.end.saturating_sub(node.start.offset),
                format!(
                    "{name} is no component of this project: `run` cannot start it, `verify --target` can"
                ),
                Some(nearest(name, own.iter().copied())),
            ))
        });
        found.extend(of_file.map(|error| error.coded("component")));
    }
    found
}

/// Waivers of clauses that no contract has.
fn unknown_clauses(file: &SourceFile, waivers: &[waivers::Waiver], contracts: &[Outline]) -> Vec<Error> {
    let ids = || contracts.iter().flat_map(|contract| &contract.clauses).map(|clause| clause.id.as_str());
    let nodes = yaml::parse(&file.text).unwrap_or_default();
    let items = nodes.first().and_then(|node| node.get("waivers")).and_then(Node::items).unwrap_or_default();
    let unknown = waivers.iter().zip(items).filter(|(waiver, _)| ids().all(|id| id != waiver.clause));
    let error = |(waiver, node): (&waivers::Waiver, &Node)| {
        let place = node.get("clause").unwrap_or(node);
        let remedy = closest(&waiver.clause, ids()).map_or_else(
            || "`gardener-conformance list` prints the clauses".to_owned(),
            |near| format!("did you mean `{near}`?"),
        );
        at(file, place, format!("no contract has a clause {:?}", waiver.clause), remedy)
    };
    unknown.map(error).collect()
}

/// Entries of a suite that name a component, contract or clause that does not exist.
fn unknown_entries(file: &SourceFile, contracts: &[Outline]) -> Vec<Error> {
    let nodes = yaml::parse(&file.text).unwrap_or_default();
    let spec = nodes.first().and_then(|node| node.get("spec"));
    let entries = spec.and_then(|spec| spec.get("include")).and_then(Node::items).unwrap_or_default();
    let clauses = || contracts.iter().flat_map(|contract| &contract.clauses);
    let mut found = Vec::new();
    for (what, known) in [
        ("component", contracts.iter().map(|contract| contract.component.as_str()).collect::<Vec<_>>()),
        ("contract", contracts.iter().map(|contract| contract.name.as_str()).collect()),
        ("clause", clauses().map(|clause| clause.id.as_str()).collect()),
    ] {
        for node in entries.iter().filter_map(|entry| entry.get(what)) {
            let Some(name) = node.as_str().filter(|name| !known.contains(name)) else { continue };
            let mut names = known.clone();
            names.dedup();
            found.push(at(file, node, format!("there is no {what} {name:?}"), nearest(name, names)));
        }
    }
    found
}

fn at(file: &SourceFile, place: &Node, message: String, remedy: String) -> Error {
    let length = place.end.saturating_sub(place.start.offset);
    file.error(place.start, length, message, Some(remedy).filter(|remedy| !remedy.is_empty()))
        .coded("unknown-name")
}
