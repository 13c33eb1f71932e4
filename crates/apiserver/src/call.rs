//! A request after it was read: who asks, what is meant, in which form the answer is wanted.

use std::collections::BTreeMap;

use bytes::Bytes;
use serde_json::{Value, json};

use crate::clock::Clock;
use crate::http::negotiate::Accept;
use crate::http::path::ResourcePath;
use crate::http::query::Query;
use crate::http::status::GroupResource;
use crate::registry::Target;
use crate::table::column::Column;

/// Who asks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct User {
    /// `system:admin`.
    pub name: String,
    /// Which one of that name; empty if nobody knows.
    pub uid: String,
    /// `system:masters`.
    pub groups: Vec<String>,
    /// What whoever identified the user adds.
    pub extra: BTreeMap<String, Vec<String>>,
}

/// What is done, as discovery and the request log name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verb {
    /// One object is read.
    Get,
    /// A collection is read.
    List,
    /// A collection is followed.
    Watch,
    /// An object is made.
    Create,
    /// An object is replaced.
    Update,
    /// An object is changed.
    Patch,
    /// An object is deleted.
    Delete,
    /// A collection is deleted.
    DeleteCollection,
}

/// A request for objects of a resource.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    /// Who asks.
    pub(crate) user: User,
    /// The client's name for itself.
    pub(crate) user_agent: String,
    /// What is done.
    pub(crate) verb: Verb,
    /// Where.
    pub(crate) path: ResourcePath,
    /// Of which kind.
    pub(crate) target: Target,
    /// With which options.
    pub(crate) query: Query,
    /// In which form the answer is wanted.
    pub(crate) accept: Accept,
    /// In which form the body is.
    pub(crate) content_type: String,
    /// What was sent.
    pub(crate) body: Bytes,
    /// The columns of a table beside the name; empty where no table is wanted.
    pub(crate) columns: Vec<Column>,
    /// The server's clock.
    pub(crate) clock: Clock,
}

impl User {
    /// The user of in-process clients: may do everything.
    #[must_use]
    pub fn admin() -> Self {
        Self {
            name: "system:admin".to_owned(),
            groups: vec!["system:masters".to_owned(), "system:authenticated".to_owned()],
            ..Self::default()
        }
    }

    /// Whoever does not say who he is.
    #[must_use]
    pub fn anonymous() -> Self {
        Self {
            name: "system:anonymous".to_owned(),
            groups: vec!["system:unauthenticated".to_owned()],
            ..Self::default()
        }
    }

    /// A user of these groups, and of those who said who they are.
    #[must_use]
    pub fn of_groups(name: &str, groups: &[&str]) -> Self {
        let groups = groups.iter().copied().chain(["system:authenticated"]);
        Self { name: name.to_owned(), groups: groups.map(str::to_owned).collect(), ..Self::default() }
    }

    /// The user with the group of those who said who they are, unless it names that group or its opposite.
    pub(crate) fn authenticated(mut self) -> Self {
        let said = ["system:authenticated", "system:unauthenticated"];
        if self.name != "system:anonymous" && !self.groups.iter().any(|group| said.contains(&group.as_str()))
        {
            self.groups.push(said[0].to_owned());
        }
        self
    }

    /// The user as reviews show it.
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

    /// The verb of a method on a path; absent if there is none.
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
    /// The resource as errors name it.
    pub(crate) fn group_resource(&self) -> GroupResource<'_> {
        GroupResource { group: &self.target.resource.group, resource: &self.target.resource.plural }
    }

    /// The key of an object of this name in the store.
    pub(crate) fn key(&self, name: &str) -> String {
        key(self.target.resource.namespaced, &self.path.namespace, name)
    }

    /// What the keys of the collection begin with.
    pub(crate) fn key_prefix(&self) -> String {
        if self.path.namespace.is_empty() { String::new() } else { format!("{}/", self.path.namespace) }
    }
}

/// `namespace/name`, or the name of a cluster-scoped object.
pub(crate) fn key(namespaced: bool, namespace: &str, name: &str) -> String {
    if namespaced { format!("{namespace}/{name}") } else { name.to_owned() }
}
