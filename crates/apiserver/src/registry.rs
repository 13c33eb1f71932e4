//! The registry of served kinds: built-in kinds, typed kinds, and those of CRDs, which change while the server runs.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::RwLock;
use schema::{Crd, Group, Kinds, Resource, Scaling, TypedKind};
use webhook::strategy::Strategy;

use crate::object::structural::{Schema, Versions};
use crate::typed::TypedResource;

/// The kinds that are currently served.
#[derive(Debug)]
pub(crate) struct Registry(RwLock<Arc<ServedKinds>>);

/// A snapshot of the served kinds.
#[derive(Debug)]
pub(crate) struct ServedKinds {
    /// All kinds.
    pub(crate) kinds: Kinds,
    /// The versions and schemas of CRDs, by `plural.group`.
    custom: BTreeMap<String, Arc<Versions>>,
    /// The typed kinds, by `plural.group`.
    typed: BTreeMap<String, Arc<TypedResource>>,
    /// Whether the groups of typed kinds are the only ones that clients see: another API server serves the rest.
    only_typed: bool,
    /// The resources that were requested, sorted by group, version and plural name.
    requested: RwLock<Vec<Arc<ServedResource>>>,
}

/// A served resource, in the requested version and in its storage version.
#[derive(Clone, Debug)]
pub(crate) struct ServedResource {
    /// The resource in the requested version.
    pub(crate) resource: Resource,
    /// The resource in its storage version.
    pub(crate) storage: Resource,
    /// The name of the resource's table in the store.
    pub(crate) table: String,
    /// Whether a CRD defines it.
    pub(crate) custom: bool,
    /// The kind and its strategy; only for kinds of an aggregated API server.
    pub(crate) typed: Option<Arc<TypedResource>>,
    /// The versions of the CRD; only for custom resources.
    pub(crate) definition: Option<Arc<Versions>>,
    /// The schema of the requested version; only for custom resources.
    pub(crate) schema: Option<Arc<Schema>>,
    /// The paths of its replicas; only for custom resources with a scale subresource.
    pub(crate) scaling: Option<Arc<Scaling>>,
}

impl Registry {
    /// Serves `kinds`, the `typed` ones, and those of `crds` in other groups.
    pub(crate) fn new(kinds: &Kinds, typed: &[(TypedKind, &'static Strategy)], crds: &[Crd]) -> Self {
        let named = |(kind, strategy): &(TypedKind, &'static Strategy)| {
            let resource = kind.resource();
            (table(&resource.group, &resource.plural), TypedResource::new(kind.clone(), strategy))
        };
        let is_typed = |group: &str| typed.iter().any(|(kind, _)| kind.resource().group == group);
        let crds: Vec<&Crd> = crds.iter().filter(|crd| !is_typed(crd.group())).collect();
        let kinds = kinds.with_typed(typed.iter().map(|(kind, _)| kind.clone()));
        let kinds = kinds.with(crds.iter().map(|&crd| crd.clone()));
        let custom = crds.iter().map(|crd| (crd.name(), Arc::new(Versions::of(crd)))).collect();
        let typed = typed.iter().map(named).collect();
        let requested = RwLock::default();
        Self(RwLock::new(Arc::new(ServedKinds { kinds, custom, typed, only_typed: false, requested })))
    }

    /// The same kinds, of which clients see only the groups of typed kinds.
    pub(crate) fn only_typed(self) -> Self {
        let served = self.served();
        let same = served.with(served.kinds.clone(), served.custom.clone());
        Self(RwLock::new(Arc::new(ServedKinds { only_typed: true, ..same })))
    }

    /// A new registry with the same kinds.
    pub(crate) fn fork(&self) -> Self {
        Self(RwLock::new(self.served()))
    }

    /// A snapshot of the served kinds.
    pub(crate) fn served(&self) -> Arc<ServedKinds> {
        Arc::clone(&self.0.read())
    }

    /// Adds a CRD. The group of an aggregated API server is served by that server alone.
    pub(crate) fn add(&self, crd: &Crd) {
        let mut served = self.0.write();
        if !served.is_typed(crd.group()) {
            let mut custom = served.custom.clone();
            custom.insert(crd.name(), Arc::new(Versions::of(crd)));
            *served = Arc::new(served.with(served.kinds.with([crd.clone()]), custom));
        }
    }

    /// Removes a CRD.
    pub(crate) fn remove(&self, group: &str, plural: &str) {
        let mut served = self.0.write();
        if !served.is_typed(group) {
            let mut custom = served.custom.clone();
            custom.remove(&table(group, plural));
            *served = Arc::new(served.with(served.kinds.without(group, plural), custom));
        }
    }
}

impl ServedKinds {
    /// The same typed kinds with others.
    fn with(&self, kinds: Kinds, custom: BTreeMap<String, Arc<Versions>>) -> Self {
        let (typed, only_typed) = (self.typed.clone(), self.only_typed);
        Self { kinds, custom, typed, only_typed, requested: RwLock::default() }
    }

    /// Whether a group is one of an aggregated API server.
    fn is_typed(&self, group: &str) -> bool {
        self.typed.values().any(|typed| typed.kind.resource().group == group)
    }

    /// Whether clients see a group.
    pub(crate) fn is_published(&self, group: &str) -> bool {
        !self.only_typed || self.is_typed(group)
    }

    /// The groups that clients see, in the order of discovery.
    pub(crate) fn groups(&self) -> impl Iterator<Item = &Group> {
        self.kinds.groups().iter().filter(move |group| self.is_published(&group.name))
    }

    /// Whether there is a typed kind with this `plural.group`.
    pub(crate) fn has_typed(&self, name: &str) -> bool {
        self.typed.contains_key(name)
    }

    /// The typed kinds.
    pub(crate) fn typed(&self) -> impl Iterator<Item = &TypedKind> {
        self.typed.values().map(|typed| &typed.kind)
    }

    /// The resource of a path.
    pub(crate) fn target(&self, group: &str, version: &str, plural: &str) -> Option<Arc<ServedResource>> {
        if !self.is_published(group) {
            return None;
        }
        let position = |requested: &[Arc<ServedResource>]| {
            requested.binary_search_by(|target| {
                let Resource { group: of, version: in_version, plural: named, .. } = &target.resource;
                (of.as_str(), in_version.as_str(), named.as_str()).cmp(&(group, version, plural))
            })
        };
        {
            let requested = self.requested.read();
            if let Ok(at) = position(&requested) {
                return Some(Arc::clone(&requested[at]));
            }
        }
        let resource = self.kinds.resource(group, version, plural)?;
        let target = Arc::new(self.target_of(resource));
        let mut requested = self.requested.write();
        if let Err(at) = position(&requested) {
            requested.insert(at, Arc::clone(&target));
        }
        Some(target)
    }

    /// Whether a group has a built-in resource.
    pub(crate) fn is_built_in(&self, group: &str) -> bool {
        let versions = self.kinds.group(group).map_or(&[][..], |group| &group.versions);
        let resources = versions.iter().flat_map(|served| &served.resources);
        let custom = |resource: &Resource| self.custom.contains_key(&format!("{}.{group}", resource.plural));
        resources.into_iter().any(|resource| !custom(resource))
    }

    /// All resources, each once, in its storage version.
    pub(crate) fn stored(&self) -> Vec<ServedResource> {
        self.kinds
            .resources()
            .filter(|resource| resource.storage)
            .map(|resource| self.target_of(resource))
            .collect()
    }

    /// All other (group, version, resource) names under which the objects of `target` are served.
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
            typed: self.typed.get(&table).cloned(),
            definition: custom.cloned(),
            schema: custom.map(|versions| versions.schema(&resource.version)),
            scaling: custom.and_then(|versions| versions.scaling(&resource.version)),
            table,
        }
    }
}

/// The name of a resource's table; events of both groups share one table.
fn table(group: &str, plural: &str) -> String {
    match (group, plural) {
        ("" | "events.k8s.io", "events") => "events".to_owned(),
        ("", plural) => plural.to_owned(),
        (group, plural) => format!("{plural}.{group}"),
    }
}
