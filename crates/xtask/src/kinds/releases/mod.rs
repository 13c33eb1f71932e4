//! `cargo xtask kinds --releases`: what differs in the API of older releases of Kubernetes from the newest one.
//!
//! The source is the module k8s.io/kubernetes of each release: its OpenAPI documents, and the Go files that say which
//! versions are served by default and in which order. Reading the newest release in the same way must give what its real
//! server publishes.

mod differences;
mod documents;
mod go_source;
mod module;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::Generated;
use super::bundle::gzip;
use differences::Differences;
use module::Module;

/// The last known release of each older minor, newest first.
const RELEASES: [&str; 12] = [
    "v1.35.4", "v1.34.4", "v1.33.13", "v1.32.13", "v1.31.14", "v1.30.14", "v1.29.15", "v1.28.15", "v1.27.16",
    "v1.26.15", "v1.25.16", "v1.24.17",
];

/// The API that a release serves by default.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ReleaseApi {
    /// Groups with their versions in the order of discovery.
    groups: Vec<(String, Vec<String>)>,
    /// Resources as crates/schema reads them, by `group/version/plural`.
    resources: BTreeMap<String, Value>,
    /// Names of definitions by `group/version/kind`.
    kinds: BTreeMap<String, String>,
    /// Trimmed definitions by name.
    definitions: BTreeMap<String, Value>,
    /// The priorities of an APIService by `group/version`: of the group, of the version.
    priorities: BTreeMap<String, (u32, u32)>,
}

/// The two files with data of releases.
pub(super) fn generate(crates: &Path) -> Result<[Generated; 2]> {
    let published = published(crates)?;
    let newest = Module::download(&published.version)?;
    let read = newest.api(&published.api, &published.api)?;
    differences::ensure_same(&published.api, &read)?;
    let mut facts = vec![newest.facts()?];
    let (mut newer, mut lines) = (published.api.clone(), Vec::new());
    for version in RELEASES {
        let module = Module::download(version)?;
        let older = module.api(&published.api, &newer)?;
        let differences = Differences::between(&newer, &older, &published.api);
        newer = differences.applied(older, newer);
        lines.push(differences.line(module.minor()?));
        facts.push(module.facts()?);
    }
    facts.reverse();
    let facts = facts.iter().map(Value::to_string).collect::<Vec<_>>().join(",\n");
    Ok([
        Generated {
            path: "schema/data/releases.json".to_owned(),
            bytes: format!("[\n{facts}\n]\n").into_bytes(),
        },
        Generated { path: "schema/data/releases.gz".to_owned(), bytes: gzip(&(lines.join("\n") + "\n"))? },
    ])
}

/// Kinds of older releases that the newest one does not have, as lines of `group/version/kind definition`.
pub(super) fn retired_kinds(crates: &Path, newest: &BTreeMap<String, String>) -> Result<String> {
    let packed = fs::read(crates.join("schema/data/releases.gz")).context("failed to read releases.gz")?;
    let text = documents::unpack(&packed)?;
    let mut retired = BTreeMap::new();
    for line in text.lines() {
        let line: Value = serde_json::from_str(line).context("releases.gz is not JSON")?;
        for (kind, name) in line["kinds"].as_object().into_iter().flatten() {
            if let Some(name) = name.as_str().filter(|_| !newest.contains_key(kind)) {
                retired.insert(kind.clone(), name.to_owned());
            }
        }
    }
    Ok(lines(&retired))
}

/// Kinds with the names of their definitions, as lines of `group/version/kind definition`.
pub(super) fn lines(kinds: &BTreeMap<String, String>) -> String {
    kinds.iter().flat_map(|(kind, name)| [kind, " ", name, "\n"]).collect()
}

/// The API of the newest release, as its real server published it.
struct Published {
    /// `v1.36.3`.
    version: String,
    api: ReleaseApi,
}

/// Reads the files that `cargo xtask kinds` wrote.
fn published(crates: &Path) -> Result<Published> {
    let index = fs::read(crates.join("schema/data/kinds.json")).context("failed to read kinds.json")?;
    let index: Value = serde_json::from_slice(&index).context("kinds.json is not JSON")?;
    let packed =
        fs::read(crates.join("schema/data/definitions.gz")).context("failed to read definitions.gz")?;
    let version = index["kubernetes"].as_str().context("kinds.json names no version")?.to_owned();
    let mut api = ReleaseApi::default();
    for group in index["groups"].as_array().into_iter().flatten() {
        let name = group["name"].as_str().unwrap_or_default();
        let mut versions = Vec::new();
        for served in group["versions"].as_array().into_iter().flatten() {
            let version = served["version"].as_str().unwrap_or_default();
            versions.push(version.to_owned());
            for resource in served["resources"].as_array().into_iter().flatten() {
                let plural = resource["plural"].as_str().unwrap_or_default();
                api.resources.insert(format!("{name}/{version}/{plural}"), resource.clone());
            }
        }
        api.groups.push((name.to_owned(), versions));
    }
    for (kind, name) in index["kinds"].as_object().into_iter().flatten() {
        api.kinds.insert(kind.clone(), name.as_str().unwrap_or_default().to_owned());
    }
    for (package, place) in index["packages"].as_object().into_iter().flatten() {
        let [offset, length] =
            [0, 1].map(|at| place[at].as_u64().and_then(|number| usize::try_from(number).ok()));
        let member = offset.zip(length).and_then(|(offset, length)| packed.get(offset..offset + length));
        let text = documents::unpack(member.context("kinds.json and definitions.gz do not fit")?)?;
        for (name, schema) in text.lines().filter_map(|line| line.split_once(' ')) {
            let schema = serde_json::from_str(schema).context("a definition is not JSON")?;
            api.definitions.insert(format!("{package}.{name}"), schema);
        }
    }
    ensure!(!api.definitions.is_empty(), "kinds.json names no packages");
    Ok(Published { version, api })
}

/// Facts about a release: a line of releases.json.
fn facts(version: &str, go: &str, date: &str) -> Result<Value> {
    let (minor, patch) = numbers(version)?;
    Ok(json!({"minor": minor, "patch": patch, "go": go, "date": date}))
}

/// Minor and patch of `v1.28.15`.
fn numbers(version: &str) -> Result<(u32, u32)> {
    let numbers = version.strip_prefix("v1.").and_then(|rest| rest.split_once('.'));
    let numbers = numbers.and_then(|(minor, patch)| Some((minor.parse().ok()?, patch.parse().ok()?)));
    numbers.with_context(|| format!("{version} is not a release"))
}
