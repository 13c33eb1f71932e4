//! An object at one revision, with its JSON text made once.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use bytes::Bytes;
use serde_json::Value;

/// An immutable object in its storage version.
#[derive(Debug)]
pub(crate) struct Object {
    value: Value,
    revision: u64,
    made: u64,
    rough: bool,
    json: OnceLock<Bytes>,
    item_json: OnceLock<Bytes>,
}

impl Object {
    /// The object at `revision`; its `metadata.resourceVersion` says so already. It was made at `made`.
    pub(super) fn new(value: Value, revision: u64, made: u64) -> Self {
        Self { value, revision, made, rough: false, json: OnceLock::new(), item_json: OnceLock::new() }
    }

    /// An object as a request sees it, which is not stored so.
    pub(crate) fn shown(value: Value, revision: u64) -> Self {
        Self::new(value, revision, revision)
    }

    /// The object as a tree.
    pub(crate) fn value(&self) -> &Value {
        &self.value
    }

    /// When it was written.
    pub(crate) fn revision(&self) -> u64 {
        self.revision
    }

    /// When it was made.
    pub(crate) fn made(&self) -> u64 {
        self.made
    }

    /// The same, which is stored otherwise than it is read.
    pub(super) fn roughly(self, rough: bool) -> Self {
        Self { rough, ..self }
    }

    /// Whether it is stored otherwise than it is read, so that writing it again is a write.
    pub(crate) fn is_rough(&self) -> bool {
        self.rough
    }

    /// Whether it was never changed since.
    pub(crate) fn is_new(&self) -> bool {
        self.made == self.revision
    }

    /// The object as text.
    pub(crate) fn json(&self) -> &Bytes {
        self.json.get_or_init(|| Bytes::from(self.value.to_string()))
    }

    /// The object as text without `apiVersion` and `kind`, as it stands in a typed list.
    pub(crate) fn item_json(&self) -> &Bytes {
        self.item_json.get_or_init(|| {
            let fields = self.value.as_object().into_iter().flatten();
            let rest: BTreeMap<&String, &Value> =
                fields.filter(|(key, _)| !matches!(key.as_str(), "apiVersion" | "kind")).collect();
            Bytes::from(serde_json::to_vec(&rest).expect("a tree of JSON is written without error"))
        })
    }
}
