//! An object at one revision: its JSON text, and its tree where it is used.
//!
//! A tree takes several times the memory of the text, and most objects are only ever sent as they are.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::OnceLock;

use bytes::Bytes;
use formats::depth;
use serde_json::Value;

/// How deep a text may be nested to be parsed again; `serde_json` parses 127 levels.
const MAX_PARSED_LEVELS: usize = 100;

/// An immutable object in its storage version.
#[derive(Debug)]
pub(crate) struct Object {
    text: Text,
    /// Parsed when it is first used.
    tree: OnceLock<Box<Value>>,
    revision: u64,
    creation_revision: u64,
    non_canonical: bool,
}

/// An object as JSON.
#[derive(Debug)]
struct Text {
    json: Bytes,
    /// Where `apiVersion` and `kind` are, with one comma each; absent if nothing follows them.
    type_meta: Option<[Range<u32>; 2]>,
}

impl Object {
    /// The object at `revision`, which its `metadata.resourceVersion` already contains. The first write was at
    /// `creation_revision`. Keeps only the text, unless that would be too deep to be parsed.
    pub(super) fn stored(value: Value, revision: u64, creation_revision: u64) -> Self {
        let is_deep = depth::levels(&value) > MAX_PARSED_LEVELS;
        Self {
            text: Text::of(&value),
            tree: if is_deep { OnceLock::from(Box::new(value)) } else { OnceLock::new() },
            revision,
            creation_revision,
            non_canonical: false,
        }
    }

    /// An object in the form that a request sees, which is not in the store.
    pub(crate) fn unstored(value: Value, revision: u64) -> Self {
        Self {
            text: Text::of(&value),
            tree: OnceLock::from(Box::new(value)),
            revision,
            creation_revision: revision,
            non_canonical: false,
        }
    }

    /// The object as a tree, which is kept.
    pub(crate) fn value(&self) -> &Value {
        self.tree.get_or_init(|| Box::new(self.text.parse()))
    }

    /// The object as a tree, which is not kept: for a look at each of many objects.
    pub(crate) fn tree(&self) -> Cow<'_, Value> {
        match self.tree.get() {
            Some(tree) => Cow::Borrowed(tree),
            None => Cow::Owned(self.text.parse()),
        }
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
        &self.text.json
    }

    /// Appends the object as JSON without `apiVersion` and `kind`, as an item of a typed list.
    pub(crate) fn append_item_json(&self, to: &mut Vec<u8>) {
        let json = &self.text.json;
        let Some([first, second]) = &self.text.type_meta else {
            return to.extend_from_slice(&without_type_meta(&self.tree()));
        };
        let at = |offset: u32| offset as usize;
        to.extend_from_slice(&json[..at(first.start)]);
        to.extend_from_slice(&json[at(first.end)..at(second.start)]);
        to.extend_from_slice(&json[at(second.end)..]);
    }
}

impl Text {
    fn of(value: &Value) -> Self {
        let Some(fields) = value.as_object() else {
            return Self { json: Bytes::from(written(value)), type_meta: None };
        };
        let mut json = Vec::with_capacity(512);
        let mut type_meta = [0..0, 0..0];
        json.push(b'{');
        let last = fields.len().saturating_sub(1);
        let mut is_followed = true;
        for (index, (name, field)) in fields.iter().enumerate() {
            let start = json.len();
            append(&mut json, name);
            json.push(b':');
            append(&mut json, field);
            if index < last {
                json.push(b',');
            }
            let position = match name.as_str() {
                "apiVersion" => 0,
                "kind" => 1,
                _ => continue,
            };
            is_followed &= index < last;
            match (u32::try_from(start), u32::try_from(json.len())) {
                (Ok(start), Ok(end)) => type_meta[position] = start..end,
                _ => is_followed = false,
            }
        }
        if type_meta[1].is_empty() {
            type_meta[1] = type_meta[0].end..type_meta[0].end;
        }
        json.push(b'}');
        json.shrink_to_fit();
        Self { json: Bytes::from(json), type_meta: is_followed.then_some(type_meta) }
    }

    fn parse(&self) -> Value {
        serde_json::from_slice(&self.json).expect("the text was written from a tree")
    }
}

fn without_type_meta(object: &Value) -> Vec<u8> {
    let fields = object.as_object().into_iter().flatten();
    let rest: BTreeMap<&String, &Value> =
        fields.filter(|(key, _)| !matches!(key.as_str(), "apiVersion" | "kind")).collect();
    written(&rest)
}

fn append(to: &mut Vec<u8>, value: &(impl serde::Serialize + ?Sized)) {
    formats::json::append(to, value).expect("a tree of JSON is written without error");
}

fn written(value: &impl serde::Serialize) -> Vec<u8> {
    formats::json::to_vec(value).expect("a tree of JSON is written without error")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_item_of_a_list_has_neither_version_nor_kind() {
        let table = [
            (
                json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "\"kind\":\u{1}"}}),
                json!({"metadata": {"name": "\"kind\":\u{1}"}}),
            ),
            (
                json!({"Before": 1, "apiVersion": "v1", "data": {"kind": "x"}, "kind": "A", "spec": 1e300}),
                json!({"Before": 1, "data": {"kind": "x"}, "spec": 1e300}),
            ),
            (json!({"data": {}, "kind": "A", "metadata": {}}), json!({"data": {}, "metadata": {}})),
            (json!({"apiVersion": "v1", "data": 1}), json!({"data": 1})),
            (json!({"apiVersion": "v1", "kind": "A"}), json!({})),
            (json!({"data": 1, "kind": "A"}), json!({"data": 1})),
            (json!({}), json!({})),
        ];
        for (object, item) in table {
            let stored = Object::stored(object.clone(), 1, 1);
            let mut text = Vec::new();
            stored.append_item_json(&mut text);
            assert_eq!(text, written(&item), "{object}");
            assert_eq!(stored.json(), &written(&object));
            assert_eq!((&*stored.tree(), stored.value()), (&object, &object));
        }
    }

    #[test]
    fn a_tree_is_kept_only_if_it_is_used() {
        let stored = Object::stored(json!({"data": 1}), 1, 1);
        assert!(matches!(stored.tree(), Cow::Owned(_)) && stored.tree.get().is_none());
        stored.value();
        assert!(matches!(stored.tree(), Cow::Borrowed(_)));
        assert!(matches!(Object::unstored(json!({}), 1).tree(), Cow::Borrowed(_)));
        let nested = |levels: usize| (0..levels).fold(json!(1), |value, _| json!({"a": value}));
        for levels in [99, 100, 101, 126, 127, 300] {
            let stored = Object::stored(nested(levels), 1, 1);
            assert_eq!(*stored.tree(), nested(levels));
            assert_eq!(matches!(stored.tree(), Cow::Borrowed(_)), levels > 100);
        }
    }
}
