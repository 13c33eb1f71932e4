//! Reads the objects of a garden that decide about Seeds, from files or a garden cluster.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use api::garden::{API_VERSION, CloudProfile, Seed, Shoot};
use formats::yaml::Node;
use gardener_scheduler::decision::{
    Decision, Inputs, PURPOSE, PURPOSE_REGION_CONFIG, Strategy, Usage, count_as_ready, decide,
};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::Resource;

use crate::arguments::LandscapeArguments;
use crate::commands::garden_objects;
use crate::terminal::{Failure, Terminal};

/// The namespace of ConfigMaps with distances.
const GARDEN_NAMESPACE: &str = "garden";
/// Group and version of ConfigMaps.
const CORE: &str = "v1";

/// Namespace and name of an object.
pub(super) type Key = (String, String);

/// What decides about Seeds.
pub(super) struct Landscape {
    /// The Seeds, by name.
    pub(super) seeds: Vec<Arc<Seed>>,
    /// The Shoots by namespace and name.
    pub(super) shoots: BTreeMap<Key, Shoot>,
    profiles: BTreeMap<Key, CloudProfile>,
    region_configs: Vec<Arc<ConfigMap>>,
    strategy: Strategy,
}

impl Landscape {
    /// Decides about a Shoot.
    pub(super) fn decide<'a>(&'a self, shoot: &'a Shoot, usage: &'a Usage) -> Decision<'a> {
        decide(&Inputs {
            shoot,
            seeds: &self.seeds,
            usage,
            cloud_profile: self.profiles.get(&(String::new(), shoot.spec.cloud_profile_name.clone())),
            region_configs: &self.region_configs,
            strategy: self.strategy,
        })
    }

    /// Whether there is a Seed of this name.
    pub(super) fn has_seed(&self, name: &str) -> bool {
        self.seeds.iter().any(|seed| seed.metadata.name.as_deref() == Some(name))
    }
}

/// Namespace and name of an object.
pub(super) fn key<K: Resource>(object: &K) -> Key {
    let meta = object.meta();
    (meta.namespace.clone().unwrap_or_default(), meta.name.clone().unwrap_or_default())
}

/// `<namespace>/<name>`.
pub(super) fn shoot_name((namespace, name): &Key) -> String {
    format!("{namespace}/{name}")
}

/// LandscapeObjects that were read, and from which file.
#[derive(Default)]
struct LandscapeObjects {
    seeds: BTreeMap<Key, Seed>,
    shoots: BTreeMap<Key, Shoot>,
    profiles: BTreeMap<Key, CloudProfile>,
    region_configs: BTreeMap<Key, ConfigMap>,
    files: BTreeMap<(&'static str, Key), PathBuf>,
    /// Fields of files that their kinds do not have, each in a sentence.
    warnings: BTreeSet<String>,
}

/// Reads everything that the arguments name.
pub(super) fn read(arguments: &LandscapeArguments, terminal: &Terminal) -> Result<Landscape, Failure> {
    let mut objects = LandscapeObjects::default();
    for path in &arguments.objects {
        if objects.add_path(path)? == 0 {
            let text = format!(
                "{} contains no Seed, Shoot, CloudProfile or ConfigMap with distances",
                path.display()
            );
            return Err(Failure::usage(text));
        }
    }
    if let Some(path) = &arguments.kubeconfig {
        objects.add_cluster(path)?;
    }
    for path in &arguments.with_seed {
        objects.add_new_seeds(path)?;
    }
    for warning in &objects.warnings {
        terminal.note(&terminal.wrap(warning, "  "));
    }
    for name in &arguments.without_seed {
        if objects.seeds.remove(&(String::new(), name.clone())).is_none() {
            let known: Vec<&str> = objects.seeds.keys().map(|(_, name)| name.as_str()).collect();
            let text =
                format!("--without-seed {name}: there is no such Seed; there are: {}", known.join(", "));
            return Err(Failure::usage(text));
        }
    }
    Ok(Landscape {
        seeds: objects.seeds.into_values().map(Arc::new).collect(),
        shoots: objects.shoots,
        profiles: objects.profiles,
        region_configs: objects.region_configs.into_values().map(Arc::new).collect(),
        strategy: arguments.strategy,
    })
}

/// The Shoots of files and folders, and warnings about their unknown fields.
pub(super) fn read_shoots(paths: &[PathBuf], terminal: &Terminal) -> Result<BTreeMap<Key, Shoot>, Failure> {
    let mut objects = LandscapeObjects::default();
    for path in paths {
        let before = objects.shoots.len();
        objects.add_path(path)?;
        if objects.shoots.len() == before {
            return Err(Failure::usage(format!("{} contains no Shoot of {API_VERSION}", path.display())));
        }
    }
    for warning in &objects.warnings {
        terminal.note(&terminal.wrap(warning, "  "));
    }
    Ok(objects.shoots)
}

impl LandscapeObjects {
    /// Adds the objects of a file, or of the files below a folder; returns how many there are.
    fn add_path(&mut self, path: &Path) -> Result<usize, Failure> {
        let mut added = 0;
        for file in garden_objects::files(path)? {
            for node in garden_objects::of_file(&file)? {
                added += usize::from(self.add(&node, &file)?);
            }
        }
        Ok(added)
    }

    /// Adds an object of a file; returns whether it decides about Seeds.
    fn add(&mut self, node: &Node, path: &Path) -> Result<bool, Failure> {
        match garden_objects::kind(node) {
            (API_VERSION, "Seed") => add(&mut self.seeds, &mut self.files, ("Seed", node, path))?,
            (API_VERSION, "Shoot") => add(&mut self.shoots, &mut self.files, ("Shoot", node, path))?,
            (API_VERSION, "CloudProfile") => {
                add(&mut self.profiles, &mut self.files, ("CloudProfile", node, path))?;
            }
            (CORE, "ConfigMap") if is_region_config(&garden_objects::read(node, path)?) => {
                add(&mut self.region_configs, &mut self.files, ("ConfigMap", node, path))?;
            }
            _ => return Ok(false),
        }
        self.warnings.extend(garden_objects::unknown_fields(node, path));
        Ok(true)
    }

    /// Adds Seeds that count as ready.
    fn add_new_seeds(&mut self, path: &Path) -> Result<(), Failure> {
        let mut new = Self::default();
        new.add_path(path)?;
        if new.seeds.is_empty() {
            return Err(Failure::usage(format!("{} contains no Seed of {API_VERSION}", path.display())));
        }
        for (key, mut seed) in new.seeds {
            if self.seeds.contains_key(&key) {
                return Err(Failure::usage(format!(
                    "--with-seed {}: the garden has a Seed {:?}",
                    path.display(),
                    key.1
                )));
            }
            count_as_ready(&mut seed);
            self.seeds.insert(key, seed);
        }
        self.warnings.extend(new.warnings);
        Ok(())
    }

    /// Adds objects of a cluster, unless a file has an object of the same name.
    fn add_cluster(&mut self, path: &Path) -> Result<(), Failure> {
        garden_objects::on_cluster(path, async |client| {
            let client = &client;
            fill(&mut self.seeds, garden_objects::list_all(client, API_VERSION, "seeds", "").await?);
            fill(&mut self.shoots, garden_objects::list_all(client, API_VERSION, "shoots", "").await?);
            fill(
                &mut self.profiles,
                garden_objects::list_all(client, API_VERSION, "cloudprofiles", "").await?,
            );
            let labels = format!("{PURPOSE}={PURPOSE_REGION_CONFIG}");
            let plural = format!("namespaces/{GARDEN_NAMESPACE}/configmaps");
            fill(&mut self.region_configs, garden_objects::list_all(client, CORE, &plural, &labels).await?);
            Ok(())
        })
    }
}

/// Adds objects that are not there yet.
fn fill<K: Resource>(objects: &mut BTreeMap<Key, K>, found: Vec<K>) {
    for object in found {
        objects.entry(key(&object)).or_insert(object);
    }
}

/// Adds the object of a file. The same file may be read twice; two files must not have the same object.
fn add<K: Resource + serde::de::DeserializeOwned>(
    objects: &mut BTreeMap<Key, K>,
    files: &mut BTreeMap<(&'static str, Key), PathBuf>,
    (kind, node, path): (&'static str, &Node, &Path),
) -> Result<(), Failure> {
    let object: K = garden_objects::read(node, path)?;
    let key = key(&object);
    let file = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    if let Some(other) = files.insert((kind, key.clone()), file.clone())
        && other != file
    {
        return Err(Failure::usage(format!(
            "{kind} {:?} is in {} and in {}; name only one of the files",
            key.1,
            other.display(),
            path.display()
        )));
    }
    objects.insert(key, object);
    Ok(())
}

/// Whether the scheduler reads distances from a ConfigMap.
fn is_region_config(config: &ConfigMap) -> bool {
    let labels = config.metadata.labels.as_ref();
    config.metadata.namespace.as_deref() == Some(GARDEN_NAMESPACE)
        && labels
            .and_then(|labels| labels.get(PURPOSE))
            .is_some_and(|purpose| purpose == PURPOSE_REGION_CONFIG)
}
