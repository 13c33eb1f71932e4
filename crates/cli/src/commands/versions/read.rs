//! Reads CloudProfiles and Shoots from files or a garden cluster.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use api::garden::{API_VERSION, CloudProfile, Shoot};
use formats::yaml::Node;

use crate::arguments::GardenArguments;
use crate::commands::garden_objects;
use crate::terminal::{Failure, Terminal};

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
        for file in garden_objects::files(path)? {
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

/// Which kinds a file contains.
#[derive(Default)]
struct FoundKinds {
    profile: bool,
    shoot: bool,
}

/// Adds each object of a file; of a list, each item.
fn add_file(garden: &mut Garden, path: &Path) -> Result<FoundKinds, Failure> {
    let mut found = FoundKinds::default();
    for node in garden_objects::of_file(path)? {
        add(garden, &node, path, &mut found)?;
    }
    Ok(found)
}

/// Adds a CloudProfile or a Shoot; ignores other objects.
fn add(garden: &mut Garden, node: &Node, path: &Path, found: &mut FoundKinds) -> Result<(), Failure> {
    let (api_version, kind) = garden_objects::kind(node);
    if api_version != API_VERSION {
        return Ok(());
    }
    if matches!(kind, "CloudProfile" | "Shoot") {
        garden.warnings.extend(garden_objects::unknown_fields(node, path));
    }
    match kind {
        "CloudProfile" => {
            found.profile = true;
            let refused = |why| Failure::usage(format!("{}: {why}", path.display()));
            versions::dates::check(&node.to_value()).map_err(refused)?;
            garden.add_profile(garden_objects::read(node, path)?, path)?;
        }
        "Shoot" => {
            found.shoot = true;
            garden.shoots.push(garden_objects::read(node, path)?);
        }
        _ => {}
    }
    Ok(())
}

fn read_cluster(garden: &mut Garden, path: &Path) -> Result<(), Failure> {
    garden_objects::on_cluster(path, async |client| {
        let profiles = garden_objects::list_all(&client, API_VERSION, "cloudprofiles", "").await?;
        garden.add_cluster(profiles, garden_objects::list_all(&client, API_VERSION, "shoots", "").await?);
        Ok(())
    })
}
