//! The strategy of a kind: what an API server that serves the kind itself does to its objects before it stores them. The
//! rules are pure functions, so that the same ones may serve as webhooks where the kind is a custom resource.

use jiff::Timestamp;
use serde_json::Value;

use crate::posting::PostedSubresource;
use crate::rejection::Rejection;

/// What an API server does to the objects of a kind, in the order of the fields.
///
/// Functions about an update get the old object before the new one. Before [`Self::prepare_changed`] the server keeps the
/// status and the generation, before [`Self::prepare_status`] the spec and the generation. It checks metadata, but for the
/// name, itself.
#[derive(Clone, Copy, Debug)]
pub struct Strategy {
    /// Sets the defaults of a decoded object, which may lack its namespace and a generated name.
    pub default: fn(&mut Value) -> Result<(), Rejection>,
    /// Fills in and refuses what depends on other objects, as admission plugins do; before mutating webhooks.
    pub admit: fn(&Situation<'_>, Option<&Value>, &mut Value) -> Result<(), Rejection>,
    /// Prepares a new object.
    pub prepare_new: fn(&Situation<'_>, &mut Value) -> Result<(), Rejection>,
    /// Prepares an update of the object, also through a subresource other than `status`.
    pub prepare_changed: fn(&Situation<'_>, &Value, &mut Value) -> Result<Generation, Rejection>,
    /// Prepares an update of the status.
    pub prepare_status: fn(&Situation<'_>, &Value, &mut Value) -> Result<Generation, Rejection>,
    /// Validates a new or changed object.
    pub validate: fn(&Situation<'_>, Option<&Value>, &Value) -> Result<(), Rejection>,
    /// Validates an update of the status.
    pub validate_status: fn(&Situation<'_>, &Value, &Value) -> Result<(), Rejection>,
    /// Warnings about a valid object.
    pub warnings: fn(&Situation<'_>, Option<&Value>, &Value) -> Vec<String>,
    /// Changes a valid object to the form in which it is stored.
    pub canonicalize: fn(&mut Value) -> Result<(), Rejection>,
    /// Whether new objects get the generation 1. If not, the server stores the client's.
    pub has_generation: bool,
    /// Whether a new object keeps the status that the client sent.
    pub keeps_new_status: bool,
    /// Whether an update needs no resourceVersion.
    pub allows_unconditional_update: bool,
    /// The columns of its tables.
    pub columns: &'static [Column],
    /// Its subresources that answer what is posted to them.
    pub posted: &'static [PostedSubresource],
}

/// Whether an update raises the generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Generation {
    /// It stays.
    Kept,
    /// It is one more.
    Raised,
}

/// What a strategy may know beside the object.
#[derive(Clone, Copy)]
pub struct Situation<'a> {
    /// The subresource of the request: `status`; empty for the object itself.
    pub subresource: &'a str,
    /// The server's time.
    pub now: Timestamp,
    /// Whether the server has admission plugins; then they, and not the strategy, judge what depends on other objects.
    pub has_plugins: bool,
    /// The objects that the server stores.
    pub objects: &'a dyn ObjectReader,
}

/// Reads the objects that the server stores.
pub trait ObjectReader {
    /// The object of a resource (`seeds.core.gardener.cloud`); the namespace of a cluster-scoped one is empty.
    fn get(&self, resource: &str, namespace: &str, name: &str) -> Option<Value>;
    /// All objects of a resource, by namespace and name.
    fn list(&self, resource: &str) -> Vec<Value>;
}

/// A column of a table.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Its title.
    pub name: &'static str,
    /// Its type in OpenAPI: `string`, `date`.
    pub kind: &'static str,
    /// Its format in OpenAPI: `name`, or empty.
    pub format: &'static str,
    /// Its description.
    pub description: &'static str,
    /// 0 for a column that is always shown.
    pub priority: i64,
    /// The cell of an object at this time.
    pub cell: fn(&Value, Timestamp) -> Value,
}

impl Strategy {
    /// The strategy of a kind without any rules.
    pub const PLAIN: Self = Self {
        default: |_| Ok(()),
        admit: |_, _, _| Ok(()),
        prepare_new: |_, _| Ok(()),
        prepare_changed: |_, _, _| Ok(Generation::Kept),
        prepare_status: |_, _, _| Ok(Generation::Kept),
        validate: |_, _, _| Ok(()),
        validate_status: |_, _, _| Ok(()),
        warnings: |_, _, _| Vec::new(),
        canonicalize: |_| Ok(()),
        has_generation: false,
        keeps_new_status: false,
        allows_unconditional_update: false,
        columns: &[],
        posted: &[],
    };
}

impl Generation {
    /// Raised if this is so.
    #[must_use]
    pub fn raised_if(is_raised: bool) -> Self {
        if is_raised { Self::Raised } else { Self::Kept }
    }
}

impl std::fmt::Debug for Situation<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Situation")
            .field("subresource", &self.subresource)
            .field("now", &self.now)
            .field("has_plugins", &self.has_plugins)
            .finish_non_exhaustive()
    }
}
