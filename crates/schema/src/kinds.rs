//! The registry of kinds.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock, OnceLock};

use serde_json::Value;

use crate::crd::Crd;
use crate::document::DeclaredSchema;
use crate::kubernetes_version::KubernetesVersion;
use crate::resource::{Group, GroupVersion, Resource};
use crate::shipped::crds;
use crate::typed_kind::{PostedBody, TypedKind};
use crate::types::Type;
use crate::{definitions, discovery, document, openapi, releases, selectors};

/// An immutable set of kinds with their resources and types. Adding and removing kinds returns another set.
#[derive(Debug, Clone)]
pub struct Kinds {
    version: KubernetesVersion,
    groups: Vec<Group>,
    declared: BTreeMap<(String, String, String), DeclaredKind>,
}

/// A kind that is not built in, whose type is computed on first use.
#[derive(Debug, Clone)]
struct DeclaredKind {
    declaration: Declaration,
    ty: Arc<OnceLock<Type>>,
}

/// What declares a kind.
#[derive(Debug, Clone)]
enum Declaration {
    Crd(Arc<Crd>),
    Typed(Arc<TypedKind>),
    /// The body of a subresource, which no resource serves.
    Body(PostedBody),
}

static KUBERNETES: LazyLock<Kinds> = LazyLock::new(|| Kinds::of(KubernetesVersion::DEFAULT));
static GARDENER: LazyLock<Kinds> = LazyLock::new(|| Kinds::kubernetes().with(crds().iter().cloned()));

impl Kinds {
    /// The built-in kinds that a server of this version serves with default flags.
    #[must_use]
    pub fn of(version: KubernetesVersion) -> Self {
        Self { version, groups: discovery::groups(version.minor), declared: BTreeMap::new() }
    }

    /// The version of Kubernetes whose kinds these are.
    #[must_use]
    pub fn version(&self) -> KubernetesVersion {
        self.version
    }

    /// The group's and the version's priority of an APIService for a built-in group version that the newest release does
    /// not serve (`batch/v1beta1`); absent for others.
    #[must_use]
    pub fn retired_priority(&self, group: &str, version: &str) -> Option<(u32, u32)> {
        releases::of(self.version.minor)?.priorities.get(&format!("{group}/{version}")).copied()
    }

    /// The built-in kinds of Kubernetes 1.36 that a server with default flags serves.
    #[must_use]
    pub fn kubernetes() -> &'static Self {
        &KUBERNETES
    }

    /// The built-in kinds and those of the CRDs that come with the project.
    #[must_use]
    pub fn gardener() -> &'static Self {
        &GARDENER
    }

    /// Adds the kinds of CRDs; a CRD of the same name is replaced with all its versions.
    #[must_use]
    pub fn with(&self, crds: impl IntoIterator<Item = Crd>) -> Self {
        let mut kinds = self.clone();
        for crd in crds {
            kinds.add(crd);
        }
        kinds
    }

    /// Adds kinds of an aggregated API server.
    #[must_use]
    pub fn with_typed(&self, typed: impl IntoIterator<Item = TypedKind>) -> Self {
        let mut kinds = self.clone();
        for kind in typed {
            let resource = kind.resource().clone();
            kinds.remove(&resource.group, &resource.plural);
            for body in kind.posted() {
                let (group, version, name) = body.kind;
                let declared = DeclaredKind { declaration: Declaration::Body(*body), ty: Arc::default() };
                kinds.declared.insert((group.to_owned(), version.to_owned(), name.to_owned()), declared);
            }
            kinds.declare(resource, Declaration::Typed(Arc::new(kind)));
        }
        kinds
    }

    /// Removes the kinds of the CRD, or the typed kind, of this group and plural name.
    #[must_use]
    pub fn without(&self, group: &str, plural: &str) -> Self {
        let mut kinds = self.clone();
        kinds.remove(group, plural);
        kinds
    }

    /// The groups in the order of discovery: core, the built-in ones by priority, those of CRDs by name.
    #[must_use]
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// The group of this name.
    #[must_use]
    pub fn group(&self, name: &str) -> Option<&Group> {
        self.groups.iter().find(|group| group.name == name)
    }

    /// Every resource in every version, in the order of discovery.
    pub fn resources(&self) -> impl Iterator<Item = &Resource> {
        self.groups.iter().flat_map(|group| &group.versions).flat_map(|served| &served.resources)
    }

    /// The resource of this group, version and plural name: `("apps", "v1", "deployments")`.
    #[must_use]
    pub fn resource(&self, group: &str, version: &str, plural: &str) -> Option<&Resource> {
        self.served(group, version)?.iter().find(|resource| resource.plural == plural)
    }

    /// The resource that serves this kind: `("apps", "v1", "Deployment")`.
    #[must_use]
    pub fn kind(&self, group: &str, version: &str, kind: &str) -> Option<&Resource> {
        self.served(group, version)?.iter().find(|resource| resource.kind == kind)
    }

    /// The resource by the `apiVersion` and `kind` of an object: `("apps/v1", "Deployment")`.
    #[must_use]
    pub fn of_object(&self, api_version: &str, kind: &str) -> Option<&Resource> {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        self.kind(group, version, kind)
    }

    /// The resource of a group by plural name or kind, in the preferred version of the group. Useful for versions that are
    /// no longer served (`autoscaling/v2beta1`).
    #[must_use]
    pub fn preferred(&self, group: &str, name: &str) -> Option<&Resource> {
        let resources = self.group(group)?.versions.iter().flat_map(|served| &served.resources);
        resources.into_iter().find(|resource| resource.plural == name || resource.kind == name)
    }

    /// Finds resources by a name as kubectl accepts it: kind, plural, singular or short name in any case, or `name.group`.
    /// Each is in its group's preferred version, in the order of discovery.
    #[must_use]
    pub fn named(&self, name: &str) -> Vec<&Resource> {
        let wanted = name.to_lowercase();
        let mut found: Vec<&Resource> = Vec::new();
        for resource in self.resources() {
            let same = |seen: &&Resource| seen.group == resource.group && seen.plural == resource.plural;
            if has_name(resource, &wanted) && !found.iter().any(same) {
                found.push(resource);
            }
        }
        found
    }

    /// The type of a kind. Also finds kinds that no resource serves: lists (`PodList`), `Status`, `Scale`, `DeleteOptions`.
    #[must_use]
    pub fn type_of(&self, group: &str, version: &str, kind: &str) -> Option<Type> {
        let item = || kind.strip_suffix("List").and_then(|kind| self.declared_type(group, version, kind));
        self.declared_type(group, version, kind)
            .or_else(|| definitions::of_kind(self.version.minor, group, version, kind))
            .or_else(|| item().map(openapi::list_of))
    }

    /// The keys of the list at this path, if the schema has `x-kubernetes-list-map-keys`; `None` for other lists, and if
    /// the path has no list.
    #[must_use]
    pub fn list_key(&self, group: &str, version: &str, kind: &str, path: &str) -> Option<Vec<String>> {
        self.type_of(group, version, kind)?.at(path)?.list_keys()
    }

    /// The fields that a field selector may use: `metadata.name`, `spec.nodeName`; the same in every version.
    #[must_use]
    pub fn selectable_fields(&self, resource: &Resource) -> Vec<String> {
        match self.declaration(resource) {
            Some(Declaration::Typed(kind)) => kind.selectable_fields(),
            Some(Declaration::Crd(crd)) => {
                selectors::of(resource, Some(crd.selectable_fields(&resource.version)))
            }
            Some(Declaration::Body(_)) | None => selectors::of(resource, None),
        }
    }

    /// The OpenAPI v3 document of a group version, as a server publishes it at `/openapi/v3/apis/GROUP/VERSION`: schemas
    /// without descriptions, and paths with what clients look for (`fieldValidation`, `dryRun`, the kind).
    #[must_use]
    pub fn openapi(&self, group: &str, version: &str) -> Option<Value> {
        let declared = |resource: &Resource| {
            self.declaration(resource).and_then(|declaration| match declaration {
                Declaration::Crd(crd) => Some(DeclaredSchema::of_crd(crd, version)),
                Declaration::Typed(kind) => Some(DeclaredSchema::of_typed(kind)),
                Declaration::Body(_) => None,
            })
        };
        Some(document::of(self.version, self.served(group, version)?, declared))
    }

    fn declaration(&self, resource: &Resource) -> Option<&Declaration> {
        let key = (resource.group.clone(), resource.version.clone(), resource.kind.clone());
        self.declared.get(&key).map(|declared| &declared.declaration)
    }

    fn declared_type(&self, group: &str, version: &str, kind: &str) -> Option<Type> {
        let declared = self.declared.get(&(group.to_owned(), version.to_owned(), kind.to_owned()))?;
        let made = || match &declared.declaration {
            Declaration::Crd(crd) => crd.type_of(version),
            Declaration::Typed(kind) => kind.ty(),
            Declaration::Body(body) => openapi::custom_object(&(body.schema)()),
        };
        Some(declared.ty.get_or_init(made).clone())
    }

    fn served(&self, group: &str, version: &str) -> Option<&[Resource]> {
        let served = self.group(group)?.versions.iter().find(|served| served.version == version)?;
        Some(&served.resources)
    }

    fn add(&mut self, crd: Crd) {
        self.remove(crd.group(), crd.plural());
        let crd = Arc::new(crd);
        for resource in crd.resources() {
            self.declare(resource, Declaration::Crd(Arc::clone(&crd)));
        }
    }

    fn declare(&mut self, resource: Resource, declaration: Declaration) {
        let key = (resource.group.clone(), resource.version.clone(), resource.kind.clone());
        self.declared.insert(key, DeclaredKind { declaration, ty: Arc::default() });
        self.insert(resource);
    }

    /// Inserts a resource in the order of discovery: new groups after the built-in ones, versions by priority, names sorted.
    fn insert(&mut self, resource: Resource) {
        let group = match self.groups.iter().position(|group| group.name == resource.group) {
            Some(at) => &mut self.groups[at],
            None => self.new_group(&resource.group),
        };
        let versions = &mut group.versions;
        let at = versions.iter().position(|served| served.version == resource.version).unwrap_or_else(|| {
            versions.push(GroupVersion { version: resource.version.clone(), resources: Vec::new() });
            versions.len() - 1
        });
        let resources = &mut versions[at].resources;
        let position = resources.partition_point(|other| other.plural < resource.plural);
        resources.insert(position, resource);
        versions.sort_by(|a, b| discovery::compare_priority(&a.version, &b.version));
    }

    fn new_group(&mut self, name: &str) -> &mut Group {
        let built_in = discovery::groups_count(self.version.minor).min(self.groups.len());
        let position = built_in + self.groups[built_in..].partition_point(|group| group.name.as_str() < name);
        self.groups.insert(position, Group { name: name.to_owned(), versions: Vec::new() });
        &mut self.groups[position]
    }

    fn remove(&mut self, group: &str, plural: &str) {
        let Some(at) = self.groups.iter().position(|other| other.name == group) else { return };
        let declared = &mut self.declared;
        for served in &mut self.groups[at].versions {
            served.resources.retain(|resource| {
                let key = (resource.group.clone(), resource.version.clone(), resource.kind.clone());
                resource.plural != plural || declared.remove(&key).is_none()
            });
        }
        self.groups[at].versions.retain(|served| !served.resources.is_empty());
        self.groups.retain(|group| !group.versions.is_empty());
    }
}

fn has_name(resource: &Resource, wanted: &str) -> bool {
    let name = match wanted.split_once('.') {
        Some((name, group)) if group == resource.group => name,
        Some(_) => return false,
        None => wanted,
    };
    resource.plural == name
        || resource.singular == name
        || resource.kind.to_lowercase() == name
        || resource.short_names.iter().any(|short| short == name)
}
