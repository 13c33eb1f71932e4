//! Builds the two data files of crates/schema: an index that a reviewer can read, and the packed definitions.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;

use anyhow::{Context, Result, ensure};
use flate2::{Compression, GzBuilder};
use serde_json::{Value, json};

use super::server_api::ServerApi;
use super::trim::{reachable, trimmed};

/// The content of the files.
pub(crate) struct Bundle {
    /// Groups and resources, definitions by kind, offsets of packages: JSON with one resource per line.
    pub(crate) index: Vec<u8>,
    /// One gzip member per package, with one definition per line.
    pub(crate) definitions: Vec<u8>,
}

impl Bundle {
    /// Trims, sorts and packs the API; the same API gives the same bytes.
    pub(crate) fn of(api: &ServerApi) -> Result<Self> {
        let (definitions, kinds) = collect_definitions(api)?;
        let reached = reachable(&definitions, kinds.values().cloned());
        let mut packages: BTreeMap<&str, String> = BTreeMap::new();
        for name in &reached {
            let (package, short) =
                name.rsplit_once('.').with_context(|| format!("the definition {name} has no package"))?;
            writeln!(packages.entry(package).or_default(), "{short} {}", definitions[name])?;
        }
        let mut packed = Vec::new();
        let mut places = BTreeMap::new();
        for (package, text) in packages {
            let member = gzip(&text).context("failed to pack")?;
            places.insert(package, json!([packed.len(), member.len()]));
            packed.extend(member);
        }
        Ok(Self { index: index(api, &kinds, &places)?.into_bytes(), definitions: packed })
    }
}

/// The trimmed definitions by name, and their names by `group/version/kind`.
fn collect_definitions(api: &ServerApi) -> Result<(BTreeMap<String, Value>, BTreeMap<String, String>)> {
    let (mut definitions, mut kinds) = (BTreeMap::new(), BTreeMap::new());
    for document in &api.documents {
        let schemas =
            document.pointer("/components/schemas").and_then(Value::as_object).into_iter().flatten();
        for (name, schema) in schemas {
            for kind in
                schema.get("x-kubernetes-group-version-kind").and_then(Value::as_array).into_iter().flatten()
            {
                let part = |key: &str| kind[key].as_str().unwrap_or_default();
                let key = format!("{}/{}/{}", part("group"), part("version"), part("kind"));
                // Kinds that every group repeats (DeleteOptions, WatchEvent) need one entry only.
                if !name.contains(".meta.v1.") || key.starts_with("/v1/") {
                    kinds.insert(key, name.clone());
                }
            }
            let schema = trimmed(schema);
            let known = definitions.insert(name.clone(), schema.clone());
            ensure!(known.is_none_or(|known| known == schema), "two documents define {name} differently");
        }
    }
    Ok((definitions, kinds))
}

/// A gzip member; the same text gives the same bytes.
pub(super) fn gzip(text: &str) -> Result<Vec<u8>> {
    let mut member = GzBuilder::new().mtime(0).write(Vec::new(), Compression::best());
    member.write_all(text.as_bytes())?;
    Ok(member.finish()?)
}

fn index(
    api: &ServerApi,
    kinds: &BTreeMap<String, String>,
    places: &BTreeMap<&str, Value>,
) -> Result<String> {
    let mut groups = Vec::new();
    for group in &api.groups {
        let versions = group.versions.iter().map(|(version, resources)| {
            let resources: Vec<String> = resources.iter().map(|resource| format!("    {resource}")).collect();
            format!("  {{\"version\":{},\"resources\":[\n{}\n  ]}}", json!(version), resources.join(",\n"))
        });
        let versions = versions.collect::<Vec<_>>().join(",\n");
        groups.push(format!("{{\"name\":{},\"versions\":[\n{versions}\n]}}", json!(group.name)));
    }
    let kinds: Vec<String> =
        kinds.iter().map(|(kind, name)| format!("{}:{}", json!(kind), json!(name))).collect();
    let places: Vec<String> = places.iter().map(|(name, place)| format!("{}:{place}", json!(name))).collect();
    let text = format!(
        "{{\n\"kubernetes\":{},\n\"groups\":[\n{}\n],\n\"kinds\":{{\n{}\n}},\n\"packages\":{{\n{}\n}}\n}}\n",
        json!(api.version),
        groups.join(",\n"),
        kinds.join(",\n"),
        places.join(",\n")
    );
    serde_json::from_str::<Value>(&text).context("the index is not JSON")?;
    Ok(text)
}
