//! Admission plugins of an API server that serves kinds itself: compiled in, called in both admission phases, and given
//! what the server knows. A plugin is pure: user, time, objects, authorizer and random numbers are part of the request.

use jiff::Timestamp;
use serde_json::Value;

use crate::rejection::Rejection;
use crate::review::Operation;
use crate::strategy::ObjectReader;

/// The plugins of a server, in their order.
///
/// The server names the object in a rejection that is `Forbidden` without details; any other rejection is the answer as it is.
pub trait AdmissionPlugins: Send + Sync {
    /// The mutating phase, before the object is prepared and validated, and before mutating webhooks. A deletion has no object.
    ///
    /// # Errors
    /// The first rejection of a plugin.
    fn admit(&self, request: &Attributes<'_>, object: Option<&mut Value>) -> Result<(), Rejection>;

    /// The validating phase, for a valid object, before validating webhooks. A deletion has no object.
    ///
    /// # Errors
    /// The first rejection of a plugin.
    fn validate(&self, request: &Attributes<'_>, object: Option<&Value>) -> Result<(), Rejection>;
}

/// A request for an object of a kind that the server serves itself.
#[derive(Clone, Copy)]
pub struct Attributes<'a> {
    /// What the request does; a deletion of a collection is a deletion of each object, without a name.
    pub operation: Operation,
    /// `widgets.example.com`.
    pub resource: &'a str,
    /// The kind of the body: `Widget`.
    pub kind: &'a str,
    /// `status`; empty for the object itself.
    pub subresource: &'a str,
    /// Empty for a cluster-scoped object.
    pub namespace: &'a str,
    /// Empty in the mutating phase if the server generates it, and for a deletion of a collection.
    pub name: &'a str,
    /// The stored object, for updates and deletions.
    pub old: Option<&'a Value>,
    /// The requesting user.
    pub user: &'a User,
    /// The server's time.
    pub now: Timestamp,
    /// The objects that the server stores.
    pub objects: &'a dyn ObjectReader,
    /// The server's authorizer.
    pub authorizer: &'a dyn Authorizer,
    /// A random number below its argument.
    pub random: &'a dyn Fn(u64) -> u64,
}

/// The user of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct User {
    /// Its name.
    pub name: String,
    /// Its groups.
    pub groups: Vec<String>,
}

/// Decides what users may do.
pub trait Authorizer {
    /// Whether the user may do this; an authorizer that fails denies.
    fn is_allowed(&self, user: &User, action: &Action<'_>) -> bool;
}

/// The attributes of an authorization request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Action<'a> {
    /// `get`, `update`, or a custom verb.
    pub verb: &'a str,
    /// API group.
    pub group: &'a str,
    /// API version.
    pub version: &'a str,
    /// Plural of the resource.
    pub resource: &'a str,
    /// Subresource, or empty.
    pub subresource: &'a str,
    /// Empty for a cluster-scoped object.
    pub namespace: &'a str,
    /// Name of the object.
    pub name: &'a str,
}

impl std::fmt::Debug for Attributes<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Attributes")
            .field("operation", &self.operation)
            .field("resource", &self.resource)
            .field("subresource", &self.subresource)
            .field("namespace", &self.namespace)
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}
