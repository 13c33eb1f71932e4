//! Reads CloudProfiles and Shoots from files or a garden cluster.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use api::garden::{API_VERSION, CloudProfile, Shoot};
use contract::load::Errors;
use contract::manifest::{self, UnknownField};
use contract::source;
use formats::yaml::{self, Node};
use kube::api::ListParams;
use kube::core::Request;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::arguments::GardenArguments;
use crate::kubeconfig::cluster_client;
use crate::terminal::{Failure, Terminal};

/// Extensions of the files that are read.
const EXTENSIONS: [&str; 3] = ["yaml", "yml", "json"];
/// Objects per page of a list.
const PAGE: u32 = 500;

/// The CloudProfiles and Shoots that were read.
#[derive(Default)]
pub(super) struct Garden {
    /// CloudProfiles by name.
    pub(super) profiles: BTreeMap<String, CloudProfile>,
    /// Shoots in the order of the files, then of the cluster; without those that are being deleted, as these get no maintenance.
    pub(super) shoots: Vec<Shoot>,
    /// The file of each profile, by the profile's name.
    files: BTreeMap<String, PathBuf>,
    /// Fields of files that their kinds do not have, each in a sentence.
    warnings: BTreeSet<String>,
}

impl Garden {
    /// The profile of a Shoot.
    pub(super) fn profile_of(&self, shoot: &Shoot) -> Result<&CloudProfile, String> {
        let name = &shoot.spec.cloud_profile_name;
        self.profiles.get(name).ok_or_else(|| {
            let known: Vec<&str> = self.profiles.keys().map(String::as_str).collect();
            format!("its CloudProfile {name:?} is missing; there are: {}", known.join(", "))
        })
    }

    /// Adds a profile of a file. The same file may be read twice: as that of a profile and in a folder of Shoots.
    fn add_profile(&mut self, profile: CloudProfile, path: &Path) -> Result<(), Failure> {
        let name = profile.metadata.name.clone().unwrap_or_default();
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        if let Some(other) = self.files.insert(name.clone(), path.clone())
            && other != path
        {
            return Err(Failure::usage(format!(
                "CloudProfile {name:?} is in {} and in {}; name only one of the files",
                other.display(),
                path.display()
            )));
        }
        self.profiles.insert(name, profile);
        Ok(())
    }

    /// Adds objects of a cluster, unless a file has an object of the same name: so a user can try another profile.
    fn add_cluster(&mut self, profiles: Vec<CloudProfile>, shoots: Vec<Shoot>) {
        for profile in profiles {
            self.profiles.entry(profile.metadata.name.clone().unwrap_or_default()).or_insert(profile);
        }
        let key = |shoot: &Shoot| (shoot.metadata.namespace.clone(), shoot.metadata.name.clone());
        let own: BTreeSet<_> = self.shoots.iter().map(key).collect();
        self.shoots.extend(shoots.into_iter().filter(|shoot| !own.contains(&key(shoot))));
    }
}

/// Reads everything that the arguments name.
pub(super) fn read(arguments: &GardenArguments, terminal: &Terminal) -> Result<Garden, Failure> {
    let mut garden = Garden::default();
    let missing = |path: &Path, kind: &str| {
        Failure::usage(format!("{} contains no {kind} of {API_VERSION}", path.display()))
    };
    for path in &arguments.cloud_profile {
        if !add_file(&mut garden, path)?.profile {
            return Err(missing(path, "CloudProfile"));
        }
    }
    for path in &arguments.shoot {
        let mut found = false;
        for file in files(path)? {
            found |= add_file(&mut garden, &file)?.shoot;
        }
        if !found {
            return Err(missing(path, "Shoot"));
        }
    }
    if let Some(path) = &arguments.kubeconfig {
        read_cluster(&mut garden, path)?;
    }
    for warning in &garden.warnings {
        terminal.note(&terminal.wrap(warning, "  "));
    }
    garden.shoots.retain(|shoot| shoot.metadata.deletion_timestamp.is_none());
    Ok(garden)
}

/// The YAML and JSON files below a folder, sorted; or the file itself.
fn files(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    let found = source::files_below(path, &EXTENSIONS).map_err(|error| Failure::from_cause(2, error))?;
    if found.errors.is_empty() { Ok(found.paths) } else { Err(Failure::diagnostic(Errors(found.errors))) }
}

/// Which kinds a file contains.
#[derive(Default)]
struct FoundKinds {
    profile: bool,
    shoot: bool,
}

/// Adds each object of a file; of a list, each item.
fn add_file(garden: &mut Garden, path: &Path) -> Result<FoundKinds, Failure> {
    let text = fs::read_to_string(path)
        .map_err(|error| Failure::usage(format!("failed to read {}: {error}", path.display())))?;
    let mut found = FoundKinds::default();
    for document in yaml::parse(&text).map_err(|error| yaml_failure(path, &error))? {
        match document.get("items").and_then(Node::items) {
            Some(items) => items.iter().try_for_each(|node| add(garden, node, path, &mut found))?,
            None if document.is_null() => {}
            None => add(garden, &document, path, &mut found)?,
        }
    }
    Ok(found)
}

/// Adds a CloudProfile or a Shoot; ignores other objects.
fn add(garden: &mut Garden, node: &Node, path: &Path, found: &mut FoundKinds) -> Result<(), Failure> {
    let text = |field: &str| node.get(field).and_then(Node::as_str).unwrap_or_default();
    if text("apiVersion") != API_VERSION {
        return Ok(());
    }
    if matches!(text("kind"), "CloudProfile" | "Shoot") {
        garden.warnings.extend(unknown_fields(node, path));
    }
    match text("kind") {
        "CloudProfile" => {
            found.profile = true;
            let refused = |why| Failure::usage(format!("{}: {why}", path.display()));
            versions::dates::check(&node.to_value()).map_err(refused)?;
            garden.add_profile(node.read().map_err(|error| yaml_failure(path, &error))?, path)?;
        }
        "Shoot" => {
            found.shoot = true;
            garden.shoots.push(node.read().map_err(|error| yaml_failure(path, &error))?);
        }
        _ => {}
    }
    Ok(())
}

/// Warnings about fields that the kind of an object does not have: they are ignored.
fn unknown_fields(node: &Node, path: &Path) -> Vec<String> {
    let Ok(object) = node.read::<Value>() else { return Vec::new() };
    let kind = object["kind"].as_str().unwrap_or_default().to_owned();
    let warning = |(field, count): (UnknownField, usize)| {
        let place = field.position(node).map(|mark| format!(":{}:{}", mark.line, mark.column));
        let times = if count > 1 { format!(" ({count} times)") } else { String::new() };
        format!(
            "warning: {}{}: a {kind} has no field {}{times}, which is ignored; {}",
            path.display(),
            place.unwrap_or_default(),
            field.path,
            field.remedy
        )
    };
    manifest::by_place(manifest::unknown_fields(&object)).into_iter().map(warning).collect()
}

fn yaml_failure(path: &Path, error: &yaml::Error) -> Failure {
    let mark = error.mark;
    Failure::usage(format!("{}:{}:{}: {}", path.display(), mark.line, mark.column, error.message))
}

fn read_cluster(garden: &mut Garden, path: &Path) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::environment(format!("failed to start: {error}")))?;
    runtime.block_on(async {
        let client = cluster_client(path).await?;
        let profiles = list_all(&client, "cloudprofiles").await?;
        garden.add_cluster(profiles, list_all(&client, "shoots").await?);
        Ok(())
    })
}

/// Lists all objects of a kind, page by page.
async fn list_all<T: DeserializeOwned>(client: &kube::Client, plural: &str) -> Result<Vec<T>, Failure> {
    let wrong = |why: String| Failure::environment(format!("failed to list {plural}: {why}"));
    let mut params = ListParams::default().limit(PAGE);
    let mut found = Vec::new();
    loop {
        let request = Request::new(format!("/apis/{API_VERSION}/{plural}")).list(&params);
        let request = request.map_err(|error| wrong(error.to_string()))?;
        let mut page: Value = client.request(request).await.map_err(|error| wrong(error.to_string()))?;
        for item in page["items"].as_array_mut().map(std::mem::take).unwrap_or_default() {
            let name = item["metadata"]["name"].as_str().unwrap_or_default().to_owned();
            let object = serde_json::from_value(item);
            found.push(object.map_err(|error| wrong(format!("failed to read {name}: {error}")))?);
        }
        match page["metadata"]["continue"].as_str().filter(|token| !token.is_empty()) {
            Some(token) => params = params.continue_token(token),
            None => return Ok(found),
        }
    }
}
