//! A parsed request: user, resource, options, and the representation of the answer.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use serde_json::{Value, json};

use crate::clock::Clock;
use crate::http::negotiate::Accept;
use crate::http::path::ResourcePath;
use crate::http::query::Query;
use crate::http::status::GroupResource;
use crate::registry::ServedResource;
use crate::table::column::Column;
pub use crate::typed::TypedRules;

/// The user of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct User {
    /// `system:admin`.
    pub name: String,
    /// The user's UID; empty if unknown.
    pub uid: String,
    /// `system:masters`.
    pub groups: Vec<String>,
    /// Extra attributes that the authenticator adds.
    pub extra: BTreeMap<String, Vec<String>>,
}

/// The verb of a request, as discovery and the request log name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verb {
    /// Reads one object.
    Get,
    /// Reads a collection.
    List,
    /// Watches a collection.
    Watch,
    /// Creates an object.
    Create,
    /// Replaces an object.
    Update,
    /// Patches an object.
    Patch,
    /// Deletes an object.
    Delete,
    /// Deletes all selected objects of a collection.
    DeleteCollection,
}

/// A request for objects of a resource.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    /// The user.
    pub(crate) user: User,
    /// The `User-Agent` header.
    pub(crate) user_agent: String,
    /// The verb.
    pub(crate) verb: Verb,
    /// The parsed path.
    pub(crate) path: ResourcePath,
    /// The resource that the path names.
    pub(crate) target: Arc<ServedResource>,
    /// The parsed query.
    pub(crate) query: Query,
    /// The representation that the client accepts.
    pub(crate) accept: Accept,
    /// The `Content-Type` header.
    pub(crate) content_type: String,
    /// The request's body.
    pub(crate) body: Bytes,
    /// The columns of a table beside the name; empty unless the client requests a table.
    pub(crate) columns: Vec<Column>,
    /// The server's clock.
    pub(crate) clock: Clock,
    /// Which rules of typed kinds apply.
    pub(crate) rules: TypedRules,
}

impl User {
    /// The user of in-process clients, who may do everything.
    #[must_use]
    pub fn admin() -> Self {
        Self {
            name: "system:admin".to_owned(),
            groups: vec!["system:masters".to_owned(), "system:authenticated".to_owned()],
            ..Self::default()
        }
    }

    /// The user of requests without credentials.
    #[must_use]
    pub fn anonymous() -> Self {
        Self {
            name: "system:anonymous".to_owned(),
            groups: vec!["system:unauthenticated".to_owned()],
            ..Self::default()
        }
    }

    /// An authenticated user in these groups.
    #[must_use]
    pub fn of_groups(name: &str, groups: &[&str]) -> Self {
        let groups = groups.iter().copied().chain(["system:authenticated"]);
        Self { name: name.to_owned(), groups: groups.map(str::to_owned).collect(), ..Self::default() }
    }

    /// Adds the group `system:authenticated`, unless the user has it or its opposite, or is anonymous.
    pub(crate) fn authenticated(mut self) -> Self {
        let exclusive = ["system:authenticated", "system:unauthenticated"];
        let has_one = self.groups.iter().any(|group| exclusive.contains(&group.as_str()));
        if self.name != "system:anonymous" && !has_one {
            self.groups.push(exclusive[0].to_owned());
        }
        self
    }

    /// The user as `userInfo` of reviews.
    pub(crate) fn info(&self) -> Value {
        let mut info = json!({"username": self.name, "groups": self.groups});
        if !self.uid.is_empty() {
            info["uid"] = self.uid.as_str().into();
        }
        if !self.extra.is_empty() {
            info["extra"] = json!(self.extra);
        }
        info
    }
}

impl Verb {
    /// `deletecollection`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::List => "list",
            Self::Watch => "watch",
            Self::Create => "create",
            Self::Update => "update",
            Self::Patch => "patch",
            Self::Delete => "delete",
            Self::DeleteCollection => "deletecollection",
        }
    }

    /// The verb for a method on a path; absent for other methods.
    pub(crate) fn of(method: &http::Method, path: &ResourcePath, watch: bool) -> Option<Self> {
        let collection = path.name.is_empty();
        match method.as_str() {
            "GET" | "HEAD" if watch && path.subresource.is_empty() => Some(Self::Watch),
            "GET" | "HEAD" if collection => Some(Self::List),
            "GET" | "HEAD" => Some(Self::Get),
            "POST" => Some(Self::Create),
            "PUT" => Some(Self::Update),
            "PATCH" => Some(Self::Patch),
            "DELETE" if collection => Some(Self::DeleteCollection),
            "DELETE" => Some(Self::Delete),
            _ => None,
        }
    }
}

impl Call {
    /// The resource, for error messages.
    pub(crate) fn group_resource(&self) -> GroupResource<'_> {
        GroupResource { group: &self.target.resource.group, resource: &self.target.resource.plural }
    }

    /// The store key of the object with this name.
    pub(crate) fn key(&self, name: &str) -> String {
        key(self.target.resource.namespaced, &self.path.namespace, name)
    }

    /// The prefix of all store keys of the requested collection.
    pub(crate) fn key_prefix(&self) -> String {
        if self.path.namespace.is_empty() { String::new() } else { format!("{}/", self.path.namespace) }
    }
}

/// `namespace/name`, or the name of a cluster-scoped object.
pub(crate) fn key(namespaced: bool, namespace: &str, name: &str) -> String {
    if namespaced { format!("{namespace}/{name}") } else { name.to_owned() }
}
