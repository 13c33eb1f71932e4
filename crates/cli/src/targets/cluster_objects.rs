//! The provider of a target file, its profile, and the objects that take the place of the profile's (`clusterObjects`).

use std::fs;
use std::path::Path;
use std::sync::Arc;

use contract::document::provider_profile::{self, Profiles, describe, is_same};
use contract::document::{SourceFile, target::TargetSpec};
use formats::yaml::{self, Node};
use serde_json::Value;

use crate::arguments::RunningTargetArguments;
use crate::catalog;
use crate::terminal::Failure;

/// The component whose contracts have profiles.
const COMPONENT: &str = "controlplane";

/// The profiles of providers, also those of `--contracts`.
pub(crate) fn profiles(added: Option<&Path>) -> Result<Arc<Profiles>, Failure> {
    let added = catalog::read_added(added)?;
    let files = contract::source::overlay(contracts::files(), added.contracts);
    let found = contract::load::profiles(&files, COMPONENT).map_err(Failure::diagnostic)?;
    found.ok_or_else(|| Failure::usage(format!("no contract file is a namespace of {COMPONENT}")))
}

/// The provider of `--provider` as Gardener's objects name it; it must have a profile.
pub(super) fn provider_type(
    running: &RunningTargetArguments,
    added: Option<&Path>,
) -> Result<Option<String>, Failure> {
    let Some(provider) = &running.provider else { return Ok(None) };
    let profiles = profiles(added)?;
    if profiles.find(provider).is_none() {
        let text = format!(
            "--provider: provider {provider} has no profile; known are {}; a target file may name the objects of another one \
             in `clusterObjects` (docs/targets.md)",
            profiles.names().join(", ")
        );
        return Err(Failure::usage(text));
    }
    Ok(Some(profiles.type_of(provider).to_owned()))
}

/// Refuses a provider without a profile, unless the target file lists its objects.
pub(super) fn check_provider(
    spec: &TargetSpec,
    profiles: &Profiles,
    target_file: &SourceFile,
) -> Result<(), Failure> {
    let is_unknown = |provider: &&String| profiles.find(provider).is_none() && spec.cluster_objects.is_none();
    let Some(provider) = spec.provider.as_ref().filter(is_unknown) else { return Ok(()) };
    let message = format!("provider {provider} has no profile; known are {}", profiles.names().join(", "));
    let remedy = "name files with the objects that the webhook reads in `clusterObjects` (docs/targets.md), or write \
                  `clusterObjects: []` if it reads none of a provider";
    let nodes = yaml::parse(&target_file.text).unwrap_or_default();
    let node = nodes.first().and_then(|root| root.get("spec")?.get("provider"));
    Err(Failure::diagnostic(error_at(target_file, node, message, remedy)))
}

/// Reads the files of `clusterObjects`, which are relative to `folder`.
pub(super) fn read(
    spec: &TargetSpec,
    profiles: &Profiles,
    (target_file, folder): (&SourceFile, &Path),
) -> Result<Vec<Value>, Failure> {
    let nodes = yaml::parse(&target_file.text).unwrap_or_default();
    let items = nodes.first().and_then(|root| root.get("spec")?.get("clusterObjects")?.items());
    let mut objects: Vec<Value> = Vec::new();
    for (at, name) in spec.cluster_objects.iter().flatten().enumerate() {
        let item = items.and_then(|items| items.get(at));
        let path = folder.join(name);
        let text = fs::read_to_string(&path).map_err(|error| {
            let message = format!("failed to read {}: {error}", path.display());
            let remedy = "name a YAML file with objects, relative to this file";
            Failure::diagnostic(error_at(target_file, item, message, remedy))
        })?;
        let file = SourceFile::new(path.display().to_string(), text);
        let read = provider_profile::read_objects(&file, &profiles.namespace.namespace);
        for object in read.map_err(Failure::diagnostic)? {
            if objects.iter().any(|other| is_same(other, &object)) {
                let message = format!("{name} has {}, as an earlier file does", describe(&object));
                let remedy = "write each object into one file only";
                return Err(Failure::diagnostic(error_at(target_file, item, message, remedy)));
            }
            objects.push(object);
        }
    }
    Ok(objects)
}

fn error_at(
    file: &SourceFile,
    node: Option<&Node>,
    message: String,
    remedy: &str,
) -> contract::document::Error {
    let start = node.map_or_else(contract::document::first, |node| node.start);
    let length = node.map_or(0, |node| node.end.saturating_sub(node.start.offset));
    file.error(start, length, message, Some(remedy.to_owned()))
}
