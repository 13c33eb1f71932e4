//! Kinds that an aggregated API server serves from types of its own, as Kubernetes serves its built-in kinds: they have
//! no undeclared fields, take strategic merge patches, and may have subresources that no CRD can declare.

use serde_json::{Value, json};
use thiserror::Error;

use crate::crd::Crd;
use crate::openapi;
use crate::path::{Segment, segments};
use crate::resource::{Resource, Subresource};
use crate::types::Type;

const PRESERVE: &str = "x-kubernetes-preserve-unknown-fields";

/// A kind of an aggregated API server, in its only version.
#[derive(Debug, Clone)]
pub struct TypedKind {
    resource: Resource,
    schema: Value,
    package: &'static str,
    selectable: &'static [&'static str],
    priorities: (u32, u32),
    storage_root: &'static str,
    posted: &'static [PostedBody],
}

/// Group, version and kind of a subresource's body.
pub type BodyOfSubresource = (&'static str, &'static str, &'static str);

/// A subresource that takes a body of a kind of its own, answers it, and stores nothing.
#[derive(Debug, Clone, Copy)]
pub struct PostedBody {
    /// Its name: `adminkubeconfig`.
    pub subresource: &'static str,
    /// The kind of the body.
    pub kind: BodyOfSubresource,
    /// The schema of the body, without the fields that every object has.
    pub schema: fn() -> Value,
}

/// What a CRD does not say about a kind.
#[derive(Debug, Clone, Copy, Default)]
pub struct TypedKindDetails {
    /// Prefix of the names of its definitions in OpenAPI: `com.example.apis.v1`.
    pub package: &'static str,
    /// Lists that strategic merge patches merge by a field of their elements: path and field.
    pub merged_lists: &'static [(&'static str, &'static str)],
    /// All fields that field selectors may use; empty for `metadata.name` and `metadata.namespace` only.
    pub selectable: &'static [&'static str],
    /// Categories in discovery: `all`.
    pub categories: &'static [&'static str],
    /// Subresources beside those of the CRD: name, and the body if it is not the kind itself.
    pub subresources: &'static [(&'static str, Option<BodyOfSubresource>)],
    /// Subresources that are only posted to.
    pub posted: &'static [PostedBody],
    /// Priorities of its group and of its version in discovery.
    pub priorities: (u32, u32),
    /// Where the server stores its objects, as error messages show it: `/registry`.
    pub storage_root: &'static str,
}

/// Reason a kind cannot be made of a CRD.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum TypedKindError {
    /// The CRD does not serve this version.
    #[error("{0} has no version {1}")]
    Version(String, String),
    /// There is no list at this path.
    #[error("{0} has no list {1}")]
    List(String, &'static str),
}

impl TypedKind {
    /// The kind that a version of a CRD describes, without undeclared fields.
    ///
    /// # Errors
    /// If the CRD does not serve the version, or has no such list.
    pub fn new(crd: &Crd, version: &str, details: &TypedKindDetails) -> Result<Self, TypedKindError> {
        let mut served = crd.resources().into_iter();
        let resource = served.find(|resource| resource.version == version);
        let unserved = || TypedKindError::Version(crd.name(), version.to_owned());
        let mut resource = resource.ok_or_else(unserved)?;
        resource.categories.extend(details.categories.iter().map(|&category| category.to_owned()));
        resource.verbs.sort();
        for (name, body) in details.subresources {
            add_subresource(&mut resource, name, *body, &["get", "patch", "update"]);
        }
        for posted in details.posted {
            add_subresource(&mut resource, posted.subresource, Some(posted.kind), &["create"]);
        }
        let mut schema = crd.open_api(version).cloned().unwrap_or_default();
        close(&mut schema);
        for (path, key) in details.merged_lists {
            let list = list_at(&mut schema, path);
            merge_by(list.ok_or_else(|| TypedKindError::List(crd.name(), path))?, key);
        }
        Ok(Self {
            resource: Resource { storage: true, ..resource },
            schema,
            package: details.package,
            selectable: details.selectable,
            priorities: details.priorities,
            storage_root: details.storage_root,
            posted: details.posted,
        })
    }

    /// Its resource in discovery.
    #[must_use]
    pub fn resource(&self) -> &Resource {
        &self.resource
    }

    /// The schema of its objects, without the fields that every object has.
    #[must_use]
    pub fn open_api(&self) -> &Value {
        &self.schema
    }

    /// The type of its objects.
    #[must_use]
    pub fn ty(&self) -> Type {
        openapi::custom_object(&self.schema)
    }

    /// Prefix of the names of its definitions in OpenAPI.
    #[must_use]
    pub fn package(&self) -> &'static str {
        self.package
    }

    /// Its subresources that are only posted to.
    #[must_use]
    pub fn posted(&self) -> &'static [PostedBody] {
        self.posted
    }

    /// Priorities of its group and of its version in discovery.
    #[must_use]
    pub fn priorities(&self) -> (u32, u32) {
        self.priorities
    }

    /// Where the server stores its objects, as error messages show it.
    #[must_use]
    pub fn storage_root(&self) -> &'static str {
        self.storage_root
    }

    /// All fields that field selectors may use.
    #[must_use]
    pub fn selectable_fields(&self) -> Vec<String> {
        let default: &[&str] = &["metadata.name", "metadata.namespace"];
        let fields = if self.selectable.is_empty() { default } else { self.selectable };
        fields.iter().map(|&field| field.to_owned()).collect()
    }
}

fn add_subresource(resource: &mut Resource, name: &str, body: Option<BodyOfSubresource>, verbs: &[&str]) {
    if resource.subresource(name).is_some() {
        return;
    }
    let own = (resource.group.clone(), resource.version.clone(), resource.kind.clone());
    let (group, version, kind) =
        body.map_or(own, |(group, version, kind)| (group.to_owned(), version.to_owned(), kind.to_owned()));
    let verbs = verbs.iter().map(|&verb| verb.to_owned()).collect();
    resource.subresources.push(Subresource { name: name.to_owned(), group, version, kind, verbs });
    resource.subresources.sort_by(|a, b| a.name.cmp(&b.name));
}

/// Objects with declared fields have no others. Those without are of any structure, and have one field owner as a whole.
fn close(schema: &mut Value) {
    let Some(keywords) = schema.as_object_mut() else { return };
    if keywords.contains_key("properties") {
        keywords.remove(PRESERVE);
    } else if keywords.contains_key(PRESERVE) {
        keywords.insert("x-kubernetes-map-type".to_owned(), json!("atomic"));
    }
    if let Some(properties) = keywords.get_mut("properties").and_then(Value::as_object_mut) {
        properties.values_mut().for_each(close);
    }
    for below in ["items", "additionalProperties"] {
        if let Some(below) = keywords.get_mut(below) {
            close(below);
        }
    }
}

/// The schema of the list at a path.
fn list_at<'a>(schema: &'a mut Value, path: &str) -> Option<&'a mut Value> {
    let mut at = schema;
    for segment in segments(path).ok()? {
        at = match segment {
            Segment::Key(name) => at.get_mut("properties")?.get_mut(name)?,
            Segment::Each | Segment::Index(_) => at.get_mut("items")?,
        };
    }
    (at.get("type")? == "array").then_some(at)
}

/// As in structured-merge-diff, server-side apply identifies the elements by the same field.
fn merge_by(list: &mut Value, key: &str) {
    list["x-kubernetes-patch-strategy"] = json!("merge");
    list["x-kubernetes-patch-merge-key"] = json!(key);
    list["x-kubernetes-list-type"] = json!("map");
    list["x-kubernetes-list-map-keys"] = json!([key]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Kinds, PatchStrategy, crds};

    const DETAILS: TypedKindDetails = TypedKindDetails {
        package: "com.example.v1",
        merged_lists: &[("spec.tolerations.whitelist", "key")],
        selectable: &["metadata.name", "spec.namespace"],
        categories: &["all"],
        subresources: &[("scale", Some(("autoscaling", "v1", "Scale"))), ("approval", None)],
        posted: &[PostedBody {
            subresource: "login",
            kind: ("auth.example.com", "v1", "Login"),
            schema: || json!({"type": "object", "properties": {"code": {"type": "string"}}}),
        }],
        priorities: (10, 20),
        storage_root: "/elsewhere",
    };

    fn projects() -> &'static Crd {
        crds().iter().find(|crd| crd.plural() == "projects").expect("shipped")
    }

    fn seed_config() -> Type {
        let seeds = crds().iter().find(|crd| crd.plural() == "seeds").expect("shipped");
        let seeds = TypedKind::new(seeds, "v1beta1", &TypedKindDetails::default()).unwrap();
        seeds.ty().at("spec.provider.providerConfig").expect("declared")
    }

    #[test]
    fn a_typed_kind_is_closed_and_has_patch_keys_and_subresources() {
        let kinds =
            Kinds::kubernetes().with_typed([TypedKind::new(projects(), "v1beta1", &DETAILS).unwrap()]);
        let resource = kinds.resource("core.gardener.cloud", "v1beta1", "projects").expect("added").clone();
        let below: Vec<_> =
            resource.subresources.iter().map(|below| format!("{}={}", below.name, below.kind)).collect();
        assert_eq!(below, ["approval=Project", "login=Login", "scale=Scale", "status=Project"]);
        assert_eq!(resource.subresource("login").expect("added").verbs, ["create"]);
        let login = kinds.type_of("auth.example.com", "v1", "Login").expect("added");
        assert!(login.at("code").is_some() && !login.is_open());
        assert!(kinds.group("auth.example.com").is_none());
        assert_eq!((resource.storage, &resource.categories[..]), (true, &["all".to_owned()][..]));
        let ty = kinds.type_of("core.gardener.cloud", "v1beta1", "Project").expect("added");
        assert!(!ty.is_open() && !ty.at("spec").expect("declared").is_open());
        let list = ty.at("spec.tolerations.whitelist").expect("declared");
        let patch = list.patch();
        assert_eq!((patch.strategy, patch.merge_key.as_deref()), (PatchStrategy::Merge, Some("key")));
        assert_eq!(list.list_keys(), Some(vec!["key".to_owned()]));
        assert_eq!(kinds.selectable_fields(&resource), ["metadata.name", "spec.namespace"]);
        let document = kinds.openapi("core.gardener.cloud", "v1beta1").expect("served");
        let names: Vec<&String> = document["components"]["schemas"]
            .as_object()
            .unwrap()
            .keys()
            .filter(|n| n.starts_with("com."))
            .collect();
        assert_eq!(names, ["com.example.v1.Project", "com.example.v1.ProjectList"]);
        assert!(seed_config().is_atomic());
        assert!(kinds.without("core.gardener.cloud", "projects").group("core.gardener.cloud").is_none());
    }

    #[test]
    fn what_a_crd_does_not_have_is_an_error() {
        let error = |version: &str, details: &TypedKindDetails| {
            TypedKind::new(projects(), version, details).unwrap_err().to_string()
        };
        assert_eq!(error("v1", &DETAILS), "projects.core.gardener.cloud has no version v1");
        for path in ["spec.owner", "spec.nothing", "spec..x"] {
            let merged_lists = Box::leak(Box::new([(path, "key")]));
            let details = TypedKindDetails { merged_lists, ..DETAILS };
            assert_eq!(
                error("v1beta1", &details),
                format!("projects.core.gardener.cloud has no list {path}")
            );
        }
    }
}
