//! The Namespace of a Project is deleted with the Project, and not before its Shoots
//! (contracts/admission-controller/webhooks/namespace-deletion.yaml).

use webhook::rejection::Rejection;

use super::api_error;

/// Its name.
pub const NAME: &str = "namespace-deletion";
/// Its path.
pub const PATH: &str = "/webhooks/validate-namespace-deletion";
/// Label of a Namespace: the Project that it belongs to.
pub const PROJECT_LABEL: &str = "project.gardener.cloud/name";

/// What is known about the Namespace and its Project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectNamespace {
    /// The Project's name.
    pub project: String,
    /// Whether the Project is being deleted.
    pub project_is_deleted: bool,
    /// Whether the Namespace is being deleted already.
    pub is_deleted: bool,
}

/// What an answer depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeletionDecision {
    /// The Namespace may go.
    Allowed,
    /// It may go if it has no Shoots.
    UnlessShoots,
    /// It may not.
    Refused,
}

impl ProjectNamespace {
    /// Whether the Namespace may go. ADM-NSD-001, ADM-NSD-002.
    #[must_use]
    pub fn decide(&self) -> DeletionDecision {
        if self.is_deleted {
            DeletionDecision::Allowed
        } else if self.project_is_deleted {
            DeletionDecision::UnlessShoots
        } else {
            DeletionDecision::Refused
        }
    }
}

/// Refuses to delete a Namespace without its Project. ADM-NSD-002.
#[must_use]
pub fn refused(namespace: &str, project: &str) -> Rejection {
    let why = format!(
        "direct deletion of namespace {namespace:?} is not permitted (you must delete the corresponding project \
         {project:?})"
    );
    api_error::forbidden("", "Namespace", namespace, &why)
}

/// Refuses to delete a Namespace that has Shoots. ADM-NSD-003.
///
/// # Errors
/// 403 if it has, 500 if that is unknown.
pub fn validate(namespace: &str, has_shoots: Result<bool, String>) -> Result<(), Rejection> {
    if has_shoots.map_err(|error| api_error::internal(&error))? {
        let why = format!("deletion of namespace {namespace:?} is not permitted (it still contains Shoots)");
        return Err(api_error::forbidden("", "Namespace", namespace, &why));
    }
    Ok(())
}
