//! Access requests to the authorizer, and the messages of denied ones.

use crate::access::attributes::{Attributes, RequestInfo};
use crate::call::User;
use crate::http::status::{GroupResource, Status};

/// A request for access: a user, a verb and a target.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AccessRequest {
    /// The user.
    pub user: User,
    /// `get`, `create`, `bind`.
    pub verb: String,
    /// The resource or path.
    pub target: AccessTarget,
}

/// The target of an access request.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AccessTarget {
    /// Objects of a resource.
    Resource {
        /// API group.
        group: String,
        /// Plural name.
        resource: String,
        /// `status`; empty for the object itself.
        subresource: String,
        /// Empty for cluster-scoped objects and for all namespaces.
        namespace: String,
        /// Empty for a collection.
        name: String,
    },
    /// A non-resource path.
    Path(String),
}

impl AccessRequest {
    /// The access that a request needs.
    pub(crate) fn of(request: &Attributes) -> Self {
        let user = request.user.clone();
        match &request.info {
            RequestInfo::NonResource { verb, path } => {
                let verb = match verb.as_str() {
                    "head" | "get" => "get",
                    other => other,
                };
                Self { user, verb: verb.to_owned(), target: AccessTarget::Path(path.clone()) }
            }
            RequestInfo::Resource { verb, path, selected_name } => {
                // The namespace of a Namespace is its own name.
                let in_itself = path.group.is_empty() && path.resource == "namespaces";
                let namespace = if in_itself { &path.name } else { &path.namespace };
                let target = AccessTarget::Resource {
                    group: path.group.clone(),
                    resource: path.resource.clone(),
                    subresource: path.subresource.clone(),
                    namespace: namespace.clone(),
                    name: selected_name.as_ref().unwrap_or(&path.name).clone(),
                };
                Self { user, verb: verb.as_str().to_owned(), target }
            }
        }
    }

    /// The access that impersonation needs: group, resource, subresource, namespace and name of one attribute of the
    /// impersonated user.
    pub(crate) fn impersonate(
        user: User,
        [group, resource, subresource, namespace, name]: [String; 5],
    ) -> Self {
        let target = AccessTarget::Resource { group, resource, subresource, namespace, name };
        Self { user, verb: "impersonate".to_owned(), target }
    }

    /// `pods "x" is forbidden: User "u" cannot get resource "pods" in API group "" in the namespace "n"`.
    pub(crate) fn forbidden(&self, reason: &str) -> Status {
        let (user, verb) = (&self.user.name, &self.verb);
        let because = if reason.is_empty() { String::new() } else { format!(": {reason}") };
        match &self.target {
            AccessTarget::Path(path) => {
                let message = format!("forbidden: User {user:?} cannot {verb} path {path:?}{because}");
                Status::plain(403, "Forbidden", message)
            }
            AccessTarget::Resource { group, resource, subresource, namespace, name } => {
                let combined = with_subresource(resource, subresource);
                let scope = if namespace.is_empty() {
                    "at the cluster scope".to_owned()
                } else {
                    format!("in the namespace {namespace:?}")
                };
                let why = format!(
                    "User {user:?} cannot {verb} resource {combined:?} in API group {group:?} {scope}{because}"
                );
                Status::forbidden(GroupResource { group, resource }, name, &why)
            }
        }
    }
}

/// `pods/log`, or `pods` where there is no subresource.
pub(super) fn with_subresource(resource: &str, subresource: &str) -> String {
    if subresource.is_empty() { resource.to_owned() } else { format!("{resource}/{subresource}") }
}
