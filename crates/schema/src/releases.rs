//! The API of older releases, from data/releases.gz: what differs in each minor from the next newer one. Unpacked on
//! first use; the newest release costs nothing extra.
//!
//! The file has one line per minor, newest first; `zcat` prints it. `cargo xtask kinds --releases` writes it.

use std::collections::BTreeMap;
use std::io::Read;
use std::sync::OnceLock;

use flate2::read::GzDecoder;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::definitions::{self, Definition};
use crate::discovery;
use crate::kubernetes_version::NEWEST;
use crate::resource::{Group, GroupVersion, Resource};

const PACKED: &[u8] = include_bytes!("../data/releases.gz");
/// The oldest known minor.
const OLDEST: u8 = 24;

/// The API of an older release.
pub(crate) struct OlderRelease {
    /// The built-in groups in the order of discovery.
    pub(crate) groups: Vec<Group>,
    /// Definition names by `group/version/kind`.
    pub(crate) kinds: BTreeMap<String, String>,
    /// Definitions by their full names.
    pub(crate) definitions: BTreeMap<String, Definition>,
    /// The priorities of group versions that the newest release does not serve: of the group, of the version.
    pub(crate) priorities: BTreeMap<String, (u32, u32)>,
}

/// A line of the file.
#[derive(Deserialize)]
struct Differences {
    minor: u8,
    /// Groups with their versions in the order of discovery, if it differs.
    groups: Option<Vec<(String, Vec<String>)>>,
    /// By `group/version/plural`; null for a resource that is not served.
    resources: BTreeMap<String, Option<Resource>>,
    /// By `group/version/kind`; null for a kind that does not exist.
    kinds: BTreeMap<String, Option<String>>,
    /// JSON merge patches of definitions, by name.
    definitions: BTreeMap<String, Value>,
    /// All priorities of group versions that the newest release does not serve.
    priorities: BTreeMap<String, (u32, u32)>,
}

static RELEASES: [OnceLock<OlderRelease>; (NEWEST - OLDEST) as usize] =
    [const { OnceLock::new() }; (NEWEST - OLDEST) as usize];

/// The API of a minor; absent for the newest one and for unknown ones.
pub(crate) fn of(minor: u8) -> Option<&'static OlderRelease> {
    let place = RELEASES.get(usize::from(minor.checked_sub(OLDEST)?))?;
    Some(place.get_or_init(|| read(minor)))
}

/// Applies the differences of all minors down to this one to the newest release.
fn read(minor: u8) -> OlderRelease {
    let mut text = String::new();
    GzDecoder::new(PACKED).read_to_string(&mut text).expect("the generated file is read by a test");
    let mut api = Api::of_newest();
    for line in text.lines() {
        let differences: Differences = serde_json::from_str(line).expect("every line is read by a test");
        if differences.minor < minor {
            break;
        }
        api.apply(differences);
    }
    api.into_release()
}

/// The API of a release while differences are applied.
struct Api {
    order: Vec<(String, Vec<String>)>,
    resources: BTreeMap<String, Resource>,
    kinds: BTreeMap<String, String>,
    patches: BTreeMap<String, Value>,
    priorities: BTreeMap<String, (u32, u32)>,
}

impl Api {
    fn of_newest() -> Self {
        let groups = discovery::newest_groups();
        let versions = |group: &Group| group.versions.iter().map(|served| served.version.clone()).collect();
        let resources = groups.iter().flat_map(|group| &group.versions).flat_map(|served| &served.resources);
        Self {
            order: groups.iter().map(|group| (group.name.clone(), versions(group))).collect(),
            resources: resources.map(|resource| (key(resource), resource.clone())).collect(),
            kinds: discovery::data().kinds.clone(),
            patches: BTreeMap::new(),
            priorities: BTreeMap::new(),
        }
    }

    fn apply(&mut self, differences: Differences) {
        self.order = differences.groups.unwrap_or_else(|| std::mem::take(&mut self.order));
        update(&mut self.resources, differences.resources);
        update(&mut self.kinds, differences.kinds);
        for (name, patch) in differences.definitions {
            let schema = self.patches.entry(name).or_insert_with_key(|name| {
                definitions::newest_schema(name).unwrap_or_else(|| Value::Object(Map::new()))
            });
            merge(schema, &patch);
        }
        self.priorities = differences.priorities;
    }

    fn into_release(self) -> OlderRelease {
        let mut definitions = definitions::newest_texts();
        definitions.extend(self.patches.iter().map(|(name, schema)| (name.clone(), schema.to_string())));
        let served = |(name, versions): &(String, Vec<String>)| Group {
            name: name.clone(),
            versions: versions.iter().map(|version| group_version(&self.resources, name, version)).collect(),
        };
        OlderRelease {
            groups: self.order.iter().map(served).map(discovery::with_storage).collect(),
            kinds: self.kinds,
            definitions: definitions.into_iter().map(|(name, text)| (name, Definition::of(text))).collect(),
            priorities: self.priorities,
        }
    }
}

/// `group/version/plural`.
fn key(resource: &Resource) -> String {
    format!("{}/{}/{}", resource.group, resource.version, resource.plural)
}

fn group_version(resources: &BTreeMap<String, Resource>, group: &str, version: &str) -> GroupVersion {
    let complete = |resource: &Resource| Resource {
        group: group.to_owned(),
        version: version.to_owned(),
        ..resource.clone()
    };
    let prefix = format!("{group}/{version}/");
    let within = resources.range(prefix.clone()..).take_while(|(key, _)| key.starts_with(&prefix));
    GroupVersion {
        version: version.to_owned(),
        resources: within.map(|(_, resource)| complete(resource)).collect(),
    }
}

fn update<T>(map: &mut BTreeMap<String, T>, changes: BTreeMap<String, Option<T>>) {
    for (key, change) in changes {
        match change {
            Some(value) => drop(map.insert(key, value)),
            None => drop(map.remove(&key)),
        }
    }
}

/// Applies a JSON merge patch (RFC 7386).
fn merge(target: &mut Value, patch: &Value) {
    let Value::Object(changes) = patch else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = Value::Object(Map::new());
    }
    let Some(fields) = target.as_object_mut() else { return };
    for (name, change) in changes {
        if change.is_null() {
            fields.remove(name);
        } else {
            merge(fields.entry(name.clone()).or_insert(Value::Null), change);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{Kinds, KubernetesVersion, Shape, Type};

    #[test]
    fn every_minor_has_a_line_and_every_kind_and_field_has_a_definition() {
        for version in KubernetesVersion::all() {
            let Some(release) = of(version.minor) else {
                assert_eq!(version.minor, NEWEST);
                continue;
            };
            assert!(!release.groups.is_empty(), "{version}");
            for (kind, name) in &release.kinds {
                let ty = definitions::find(version.minor, name);
                let ty = ty.unwrap_or_else(|| panic!("{version} has no definition of {kind}"));
                let untyped = ty.fields().into_iter().filter(|field| dangles(&field.ty));
                assert_eq!(
                    untyped.map(|field| field.name).collect::<Vec<_>>(),
                    [] as [String; 0],
                    "{version} {kind}"
                );
            }
        }
        assert!(of(OLDEST - 1).is_none());
    }

    /// Whether a type refers to a definition that does not exist.
    fn dangles(ty: &Type) -> bool {
        ty.definition().is_some() && ty.shape() == Shape::Any
    }

    #[test]
    fn every_resource_has_a_kind_and_group_versions_have_resources() {
        for version in KubernetesVersion::all() {
            let kinds = Kinds::of(version);
            for group in kinds.groups() {
                for served in &group.versions {
                    let name = format!("{version} {}/{}", group.name, served.version);
                    assert!(!served.resources.is_empty(), "{name}");
                    for resource in &served.resources {
                        let kind = kinds.type_of(&resource.group, &resource.version, &resource.kind);
                        assert!(kind.is_some(), "{name} {}", resource.kind);
                    }
                }
            }
        }
    }

    #[test]
    fn a_merge_patch_replaces_and_removes() {
        let mut target = json!({"a": {"b": 1, "c": 2}, "d": [1]});
        merge(&mut target, &json!({"a": {"b": null, "x": {"y": 1}}, "d": [2], "e": "f"}));
        assert_eq!(target, json!({"a": {"c": 2, "x": {"y": 1}}, "d": [2], "e": "f"}));
    }
}
