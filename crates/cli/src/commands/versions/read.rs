//! Profiles and shoots, from files or a garden cluster.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use api::garden::{API_VERSION, CloudProfile, Shoot};
use formats::yaml::{self, Node};
use kube::api::ListParams;
use kube::core::Request;
use serde::de::DeserializeOwned;
use serde_json::Value;
use substrate::kubeconfig;

use crate::arguments::GardenArguments;
use crate::terminal::Failure;

/// How many objects a garden is asked for at once.
const PAGE: u32 = 500;

/// What was read.
#[derive(Default)]
pub(super) struct Garden {
    /// By name.
    pub(super) profiles: BTreeMap<String, CloudProfile>,
    /// In the order of the files, or of the cluster. Those that are being deleted are left out: nobody maintains them.
    pub(super) shoots: Vec<Shoot>,
    /// The files that profiles came from, by the profile's name.
    files: BTreeMap<String, PathBuf>,
}

impl Garden {
    /// The profile that a shoot names.
    pub(super) fn profile_of(&self, shoot: &Shoot) -> Result<&CloudProfile, String> {
        let name = &shoot.spec.cloud_profile_name;
        self.profiles.get(name).ok_or_else(|| {
            let known: Vec<&str> = self.profiles.keys().map(String::as_str).collect();
            format!("its CloudProfile {name:?} was not given; there are: {}", known.join(", "))
        })
    }

    /// A profile of a file, which may be read twice: as a profile's and in a folder of shoots.
    fn add_profile(&mut self, profile: CloudProfile, path: &Path) -> Result<(), Failure> {
        let name = profile.metadata.name.clone().unwrap_or_default();
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        if let Some(other) = self.files.insert(name.clone(), path.clone())
            && other != path
        {
            return Err(Failure::usage(format!(
                "CloudProfile {name:?} stands in {} and in {}; name one of them",
                other.display(),
                path.display()
            )));
        }
        self.profiles.insert(name, profile);
        Ok(())
    }

    /// What a cluster has; what files say comes before it, so that one can see what another profile would do.
    fn add_cluster(&mut self, profiles: Vec<CloudProfile>, shoots: Vec<Shoot>) {
        for profile in profiles {
            self.profiles.entry(profile.metadata.name.clone().unwrap_or_default()).or_insert(profile);
        }
        let key = |shoot: &Shoot| (shoot.metadata.namespace.clone(), shoot.metadata.name.clone());
        let own: BTreeSet<_> = self.shoots.iter().map(key).collect();
        self.shoots.extend(shoots.into_iter().filter(|shoot| !own.contains(&key(shoot))));
    }
}

/// Reads all that the arguments name.
pub(super) fn read(arguments: &GardenArguments) -> Result<Garden, Failure> {
    let mut garden = Garden::default();
    let lacks = |path: &Path, kind: &str| {
        Failure::usage(format!("{} has no {kind} of {API_VERSION}", path.display()))
    };
    for path in &arguments.cloud_profile {
        if !add_file(&mut garden, path)?.profile {
            return Err(lacks(path, "CloudProfile"));
        }
    }
    for path in &arguments.shoot {
        let mut found = false;
        for file in files(path)? {
            found |= add_file(&mut garden, &file)?.shoot;
        }
        if !found {
            return Err(lacks(path, "Shoot"));
        }
    }
    if let Some(path) = &arguments.kubeconfig {
        from_cluster(&mut garden, path)?;
    }
    garden.shoots.retain(|shoot| shoot.metadata.deletion_timestamp.is_none());
    Ok(garden)
}

/// The files of a folder and those below it, in order; a file is itself.
fn files(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let wrong = |error: std::io::Error| Failure::usage(format!("failed to read {}: {error}", path.display()));
    let mut entries = Vec::new();
    for entry in fs::read_dir(path).map_err(wrong)? {
        entries.push(entry.map_err(wrong)?.path());
    }
    entries.sort();
    let mut found = Vec::new();
    for entry in entries {
        let extension = entry.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        if entry.is_dir() {
            found.extend(files(&entry)?);
        } else if matches!(extension, "yaml" | "yml" | "json") {
            found.push(entry);
        }
    }
    Ok(found)
}

/// Which kinds a file has.
#[derive(Default)]
struct Found {
    profile: bool,
    shoot: bool,
}

/// Takes each object of a file; those of a list one by one.
fn add_file(garden: &mut Garden, path: &Path) -> Result<Found, Failure> {
    let text = fs::read_to_string(path)
        .map_err(|error| Failure::usage(format!("failed to read {}: {error}", path.display())))?;
    let mut found = Found::default();
    for document in yaml::parse(&text).map_err(|error| misread(path, &error))? {
        match document.get("items").and_then(Node::items) {
            Some(items) => items.iter().try_for_each(|node| add(garden, node, path, &mut found))?,
            None if document.is_null() => {}
            None => add(garden, &document, path, &mut found)?,
        }
    }
    Ok(found)
}

/// Takes a profile or a shoot; other objects may stand beside them.
fn add(garden: &mut Garden, node: &Node, path: &Path, found: &mut Found) -> Result<(), Failure> {
    let text = |field: &str| node.get(field).and_then(Node::as_str).unwrap_or_default();
    if text("apiVersion") != API_VERSION {
        return Ok(());
    }
    match text("kind") {
        "CloudProfile" => {
            found.profile = true;
            garden.add_profile(node.read().map_err(|error| misread(path, &error))?, path)?;
        }
        "Shoot" => {
            found.shoot = true;
            garden.shoots.push(node.read().map_err(|error| misread(path, &error))?);
        }
        _ => {}
    }
    Ok(())
}

fn misread(path: &Path, error: &yaml::Error) -> Failure {
    let mark = error.mark;
    Failure::usage(format!("{}:{}:{}: {}", path.display(), mark.line, mark.column, error.message))
}

fn from_cluster(garden: &mut Garden, path: &Path) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::environment(format!("failed to start: {error}")))?;
    runtime.block_on(async {
        let client =
            kubeconfig::client(path).await.map_err(|error| Failure::environment(error.to_string()))?;
        let profiles = listed(&client, "cloudprofiles").await?;
        garden.add_cluster(profiles, listed(&client, "shoots").await?);
        Ok(())
    })
}

/// All objects of a kind, page by page.
async fn listed<T: DeserializeOwned>(client: &kube::Client, plural: &str) -> Result<Vec<T>, Failure> {
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
