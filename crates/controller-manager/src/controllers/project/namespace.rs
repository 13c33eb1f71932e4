//! The namespace of a Project: its name, labels and annotations, and whose it is.

use std::collections::BTreeMap;

use api::garden::{API_VERSION, Project};
use k8s_openapi::api::core::v1::Namespace;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use kube::ResourceExt as _;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::NamespaceMetadata;
use crate::controllers::labels::{PROJECT_NAME, ROLE, is_true};

/// Prefix of names that the controller chooses.
const PREFIX: &str = "garden-";
/// Length of the hash in such a name, in hex digits.
const HASH_LENGTH: usize = 5;
/// Value of the label `gardener.cloud/role`.
const PROJECT: &str = "project";
/// Annotation: uid of the Project.
const PROJECT_UID: &str = "namespace.gardener.cloud/project";
/// Annotation of a namespace that a Project did not find.
const CREATED: &str = "namespace.gardener.cloud/created-by-project-controller";
/// Annotation: true keeps the namespace when its Project is deleted.
const KEEP: &str = "namespace.gardener.cloud/keep-after-project-deletion";

/// Why a Project does not get its namespace.
#[derive(Debug, thiserror::Error)]
pub enum NamespaceError {
    /// The namespace lacks labels; the text is what Go prints of them.
    #[error("namespace cannot be used as it needs the project labels map[string]string{{{0}}}")]
    Labels(String),
    /// It belongs to another Project.
    #[error("namespace is already in-use by another project")]
    InUse,
    /// It could not be written.
    #[error("{0}")]
    Write(kube::Error),
}

/// What to do with a namespace that exists.
#[derive(Debug, PartialEq)]
pub(super) enum NamespacePlan {
    /// Nothing.
    Keep,
    /// Merge this into its metadata.
    Adopt(Value),
}

/// What to do with the namespace of a deleted Project.
#[derive(Debug, PartialEq)]
pub(super) enum Release {
    /// Nothing: it belongs to somebody else.
    Foreign,
    /// Nothing: it is being deleted.
    Pending,
    /// Merge this into its metadata, so that it belongs to no Project.
    Keep(Value),
    /// Delete it.
    Delete,
}

/// The name that the Project's specification says.
pub(super) fn named(project: &Project) -> Option<&str> {
    project.spec.namespace.as_deref().filter(|name| !name.is_empty())
}

/// GCM-PRJ-002: the name of the namespace. The one that the controller chooses follows from the uid, so that every
/// attempt chooses the same.
pub(super) fn name(project: &Project) -> String {
    if let Some(name) = named(project) {
        return name.to_owned();
    }
    let hash = format!("{:x}", Sha256::digest(project.uid().unwrap_or_default()));
    format!("{PREFIX}{}-{}", project.name_any(), &hash[..HASH_LENGTH])
}

/// The Project as owner that controls an object.
pub(super) fn owner(project: &Project, block_deletion: bool) -> OwnerReference {
    OwnerReference {
        api_version: API_VERSION.to_owned(),
        kind: "Project".to_owned(),
        name: project.name_any(),
        uid: project.uid().unwrap_or_default(),
        controller: Some(true),
        block_owner_deletion: Some(block_deletion),
    }
}

/// GCM-PRJ-003: a new namespace.
pub(super) fn wanted(project: &Project, name: &str) -> Namespace {
    let annotations = [(PROJECT_UID, project.uid().unwrap_or_default()), (CREATED, "true".to_owned())];
    let metadata = ObjectMeta {
        name: Some(name.to_owned()),
        labels: Some(labels(project)),
        annotations: Some(annotations.map(|(key, value)| (key.to_owned(), value)).into()),
        owner_references: Some(vec![owner(project, true)]),
        ..ObjectMeta::default()
    };
    Namespace { metadata, ..Namespace::default() }
}

/// GCM-PRJ-004 to -007.
///
/// # Errors
/// If the namespace is not for this Project.
pub(super) fn plan(project: &Project, found: &NamespaceMetadata) -> Result<NamespacePlan, NamespaceError> {
    if !is_of(project, found) {
        let needed =
            labels(project).iter().map(|(key, value)| format!("{key:?}:{value:?}")).collect::<Vec<_>>();
        return Err(NamespaceError::Labels(needed.join(", ")));
    }
    let uid = project.uid().unwrap_or_default();
    let claimed = found.annotations().get(PROJECT_UID);
    if claimed.is_some_and(|claimed| *claimed != uid) {
        return Err(NamespaceError::InUse);
    }
    let mut metadata = json!({});
    if claimed.is_none() {
        metadata["annotations"][PROJECT_UID] = json!(uid);
    }
    let was_found = !found.annotations().contains_key(CREATED);
    if was_found && found.annotations().get(KEEP).map(String::as_str) != Some("true") {
        metadata["annotations"][KEEP] = json!("true");
    }
    if found.owner_references().iter().all(|owner| owner.uid != uid) {
        let owners: Vec<_> = found.owner_references().iter().cloned().chain([owner(project, true)]).collect();
        metadata["ownerReferences"] = json!(owners);
    }
    let is_complete = metadata.as_object().is_some_and(serde_json::Map::is_empty);
    Ok(if is_complete { NamespacePlan::Keep } else { NamespacePlan::Adopt(metadata) })
}

/// GCM-PRJ-042 to -045, GCM-PRJ-047, GCM-PRJ-048.
pub(super) fn release(project: &Project, found: &NamespaceMetadata) -> Release {
    if found.metadata.deletion_timestamp.is_some() {
        return Release::Pending;
    }
    if !is_of(project, found) {
        return Release::Foreign;
    }
    if !is_true(found.annotations().get(KEEP)) {
        return Release::Delete;
    }
    let is_own = |owner: &&OwnerReference| {
        (owner.api_version.as_str(), owner.kind.as_str()) == (API_VERSION, "Project")
            && owner.name == project.name_any()
            && Some(&owner.uid) == project.uid().as_ref()
    };
    let others: Vec<_> = found.owner_references().iter().filter(|owner| !is_own(owner)).collect();
    Release::Keep(json!({
        "annotations": {PROJECT_UID: null, KEEP: null, CREATED: null},
        "labels": {PROJECT_NAME: null, ROLE: null},
        "ownerReferences": if others.is_empty() { Value::Null } else { json!(others) },
    }))
}

/// Whether a namespace has the labels of the Project.
fn is_of(project: &Project, found: &NamespaceMetadata) -> bool {
    labels(project).iter().all(|(key, value)| found.labels().get(key) == Some(value))
}

fn labels(project: &Project) -> BTreeMap<String, String> {
    [(ROLE, PROJECT.to_owned()), (PROJECT_NAME, project.name_any())]
        .map(|(key, value)| (key.to_owned(), value))
        .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chosen_name_has_the_first_digits_of_the_hash_of_the_uid() {
        let mut project = Project::default();
        project.metadata.name = Some("dev".to_owned());
        project.metadata.uid = Some("6a1d2a54-6d0b-4f62-9c0e-6c5a5e6f0001".to_owned());
        assert_eq!(name(&project), "garden-dev-2162d");
        project.spec.namespace = Some(String::new());
        assert_eq!(name(&project), "garden-dev-2162d");
        project.spec.namespace = Some("garden-mine".to_owned());
        assert_eq!(name(&project), "garden-mine");
    }
}
