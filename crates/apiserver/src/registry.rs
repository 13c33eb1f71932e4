//! Which kinds are served: those of the builder, and those that CRDs bring and take while the server runs.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::RwLock;
use schema::{Crd, Kinds, Resource, Scaling};

use crate::object::structural::{Schema, Versions};

/// The kinds served now.
#[derive(Debug)]
pub(crate) struct Registry(RwLock<Arc<ServedKinds>>);

/// The kinds served at one moment.
#[derive(Clone, Debug)]
pub(crate) struct ServedKinds {
    /// All of them.
    pub(crate) kinds: Kinds,
    /// Those that CRDs brought, as `plural.group`, with their schemas.
    custom: BTreeMap<String, Arc<Versions>>,
}

/// A resource that is served, in the version asked for and in the one it is stored in.
#[derive(Clone, Debug)]
pub(crate) struct ServedResource {
    /// As asked for.
    pub(crate) resource: Resource,
    /// As stored.
    pub(crate) storage: Resource,
    /// The resource's name in the store.
    pub(crate) table: String,
    /// Whether a CRD brought it.
    pub(crate) custom: bool,
    /// What the CRD says of its versions; only of what a CRD brought.
    pub(crate) definition: Option<Arc<Versions>>,
    /// What its objects look like in the version asked for; only of what a CRD brought.
    pub(crate) schema: Option<Arc<Schema>>,
    /// Where its replicas stand; only of what a CRD brought.
    pub(crate) scaling: Option<Arc<Scaling>>,
}

impl Registry {
    /// Serves `kinds` and those of `crds`.
    pub(crate) fn new(kinds: &Kinds, crds: &[Crd]) -> Self {
        let custom = crds.iter().map(|crd| (crd.name(), Arc::new(Versions::of(crd)))).collect();
        Self(RwLock::new(Arc::new(ServedKinds { kinds: kinds.with(crds.iter().cloned()), custom })))
    }

    /// Another registry that serves what is served now.
    pub(crate) fn fork(&self) -> Self {
        Self(RwLock::new(self.served()))
    }

    /// What is served now.
    pub(crate) fn served(&self) -> Arc<ServedKinds> {
        Arc::clone(&self.0.read())
    }

    /// Serves the kinds of one more CRD.
    pub(crate) fn add(&self, crd: &Crd) {
        let mut served = self.0.write();
        let mut custom = served.custom.clone();
        custom.insert(crd.name(), Arc::new(Versions::of(crd)));
        *served = Arc::new(ServedKinds { kinds: served.kinds.with([crd.clone()]), custom });
    }

    /// Stops serving the kinds of a CRD.
    pub(crate) fn remove(&self, group: &str, plural: &str) {
        let mut served = self.0.write();
        let mut custom = served.custom.clone();
        custom.remove(&format!("{plural}.{group}"));
        *served = Arc::new(ServedKinds { kinds: served.kinds.without(group, plural), custom });
    }
}

impl ServedKinds {
    /// The resource of a path.
    pub(crate) fn target(&self, group: &str, version: &str, plural: &str) -> Option<ServedResource> {
        self.kinds.resource(group, version, plural).map(|resource| self.target_of(resource))
    }

    /// Whether the server serves a group itself.
    pub(crate) fn is_built_in(&self, group: &str) -> bool {
        let versions = self.kinds.group(group).map_or(&[][..], |group| &group.versions);
        let resources = versions.iter().flat_map(|served| &served.resources);
        let custom = |resource: &Resource| self.custom.contains_key(&format!("{}.{group}", resource.plural));
        resources.into_iter().any(|resource| !custom(resource))
    }

    /// All resources, each once, in the version it is stored in.
    pub(crate) fn stored(&self) -> Vec<ServedResource> {
        self.kinds
            .resources()
            .filter(|resource| resource.storage)
            .map(|resource| self.target_of(resource))
            .collect()
    }

    /// Every other (group, version, resource) under which objects of `target` are served.
    pub(crate) fn equivalents(&self, target: &ServedResource) -> Vec<(String, String, String)> {
        let own = (&target.resource.group, &target.resource.version);
        let same = |other: &&Resource| {
            table(&other.group, &other.plural) == target.table && (&other.group, &other.version) != own
        };
        let name = |other: &Resource| (other.group.clone(), other.version.clone(), other.plural.clone());
        self.kinds.resources().filter(same).map(name).collect()
    }

    fn target_of(&self, resource: &Resource) -> ServedResource {
        let table = table(&resource.group, &resource.plural);
        let group = if table == "events" { "" } else { resource.group.as_str() };
        let versions = self.kinds.group(group).map_or(&[][..], |group| &group.versions);
        let custom = self.custom.get(&format!("{}.{}", resource.plural, resource.group));
        let mut same = versions.iter().flat_map(|served| &served.resources);
        let storage = same.find(|other| other.plural == resource.plural && other.storage);
        ServedResource {
            storage: storage.unwrap_or(resource).clone(),
            resource: resource.clone(),
            custom: custom.is_some(),
            definition: custom.cloned(),
            schema: custom.map(|versions| versions.schema(&resource.version)),
            scaling: custom.and_then(|versions| versions.scaling(&resource.version)),
            table,
        }
    }
}

/// The name of a resource's table; events are one in both of their groups.
fn table(group: &str, plural: &str) -> String {
    match (group, plural) {
        ("" | "events.k8s.io", "events") => "events".to_owned(),
        ("", plural) => plural.to_owned(),
        (group, plural) => format!("{plural}.{group}"),
    }
}
