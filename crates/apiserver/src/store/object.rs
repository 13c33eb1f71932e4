//! An object at one revision, with its cached JSON text.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use bytes::Bytes;
use serde_json::Value;

/// An immutable object in its storage version.
#[derive(Debug)]
pub(crate) struct Object {
    value: Value,
    revision: u64,
    creation_revision: u64,
    non_canonical: bool,
    json: OnceLock<Bytes>,
    item_json: OnceLock<Bytes>,
}

impl Object {
    /// The object at `revision`, which its `metadata.resourceVersion` already contains. The first write was at `creation_revision`.
    pub(super) fn new(value: Value, revision: u64, creation_revision: u64) -> Self {
        Self {
            value,
            revision,
            creation_revision,
            non_canonical: false,
            json: OnceLock::new(),
            item_json: OnceLock::new(),
        }
    }

    /// An object in the form that a request sees, which is not in the store.
    pub(crate) fn unstored(value: Value, revision: u64) -> Self {
        Self::new(value, revision, revision)
    }

    /// The object as a tree.
    pub(crate) fn value(&self) -> &Value {
        &self.value
    }

    /// The revision of the last write.
    pub(crate) fn revision(&self) -> u64 {
        self.revision
    }

    /// The revision of the creation.
    pub(crate) fn creation_revision(&self) -> u64 {
        self.creation_revision
    }

    /// Sets whether the stored JSON differs from what a read returns.
    pub(super) fn non_canonical(self, non_canonical: bool) -> Self {
        Self { non_canonical, ..self }
    }

    /// Whether the stored JSON differs from what a read returns, so that writing it unchanged creates a new revision.
    pub(crate) fn is_non_canonical(&self) -> bool {
        self.non_canonical
    }

    /// Whether it was never changed since its creation.
    pub(crate) fn is_new(&self) -> bool {
        self.creation_revision == self.revision
    }

    /// The object as JSON.
    pub(crate) fn json(&self) -> &Bytes {
        self.json.get_or_init(|| Bytes::from(written(&self.value)))
    }

    /// The object as JSON without `apiVersion` and `kind`, as an item of a typed list.
    pub(crate) fn item_json(&self) -> &Bytes {
        self.item_json.get_or_init(|| {
            let fields = self.value.as_object().into_iter().flatten();
            let rest: BTreeMap<&String, &Value> =
                fields.filter(|(key, _)| !matches!(key.as_str(), "apiVersion" | "kind")).collect();
            Bytes::from(written(&rest))
        })
    }
}

fn written(value: &impl serde::Serialize) -> Vec<u8> {
    formats::json::to_vec(value).expect("a tree of JSON is written without error")
}
