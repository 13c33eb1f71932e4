//! Fields of metadata that `ObjectMeta` does not decode. A custom resource keeps what a webhook or an applied configuration sets
//! until it is read from storage, which drops each such field; until then, it counts as absent.
//!
//! Source: apiextensions-apiserver (GetObjectMetaWithOptions), apimachinery (Unstructured) v0.36.3.

use formats::json;
use serde_json::{Map, Value};

use super::{Directive, drop_unknown, metadata, types};
use crate::call::Call;
use crate::http::notes::Notes;
use crate::http::status::Status;
use crate::object::validation::metadata::owner_errors_of;

/// Drops the malformed fields of the metadata. Owners that validation will refuse stay, as far as they can be read.
pub(crate) fn drop_malformed_metadata(object: &mut Map<String, Value>) {
    let Some(found) = object.get_mut("metadata").filter(|found| found.is_object()) else { return };
    if types::check(found, metadata(), "ObjectMeta").is_ok() {
        return;
    }
    let Some(fields) = found.as_object_mut() else { return };
    fields.retain(|name, value| {
        json::reread(value);
        let Some(field) = metadata().field(name) else { return true };
        let fits = |value: &Value| types::check(value, &field.ty, "ObjectMeta").is_ok();
        fits(value) || (name == "ownerReferences" && keep_refused(value))
    });
}

/// The error about the apiVersion of an object: of a custom resource, the real server warns of the metadata that it has dropped
/// before it compares the versions.
pub(crate) fn with_unknown_metadata(call: &Call, mut object: Value, status: Status) -> Status {
    let warns = call.target.custom && Directive::of(call) == Directive::Warn;
    let has_kind = object["kind"].as_str().is_some_and(|kind| !kind.is_empty());
    let mut unknown = Vec::new();
    if let Some(sent) = object.get_mut("metadata").filter(|_| warns && has_kind) {
        drop_unknown(sent, metadata(), "metadata", &mut unknown);
    }
    let mut notes = Notes::default();
    notes.warn(unknown);
    status.with_notes(&notes)
}

/// Removes the malformed fields of owners; says whether validation refuses the rest.
fn keep_refused(owners: &mut Value) -> bool {
    let Some(list) = owners.as_array_mut().filter(|list| list.iter().all(Value::is_object)) else {
        return false;
    };
    for owner in list.iter_mut().filter_map(Value::as_object_mut) {
        owner.retain(|name, value| match name.as_str() {
            "apiVersion" | "kind" | "name" | "uid" => value.is_string(),
            "controller" | "blockOwnerDeletion" => value.is_boolean(),
            _ => true,
        });
    }
    let mut alone = Map::new();
    alone.insert("ownerReferences".to_owned(), owners.clone());
    !owner_errors_of("metadata", &Value::Object(alone)).is_empty()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn malformed_fields_count_as_absent() {
        let owner = json!({"apiVersion": "v1", "kind": "A", "name": "o", "uid": "u"});
        let nameless = json!({"apiVersion": "v1", "kind": "A", "name": "o"});
        let with = |field: &str, value: Value| {
            let mut owner = owner.clone();
            owner[field] = value;
            owner
        };
        let table = [
            (json!({"ownerReferences": "x"}), json!({})),
            (json!({"ownerReferences": [with("uid", json!(5))]}), json!({"ownerReferences": [nameless]})),
            (json!({"ownerReferences": [with("controller", json!("yes"))]}), json!({})),
            (json!({"ownerReferences": [owner, "x"]}), json!({})),
            (json!({"labels": {"a": 1}, "finalizers": ["x/y", 5]}), json!({})),
            (
                json!({"deletionGracePeriodSeconds": 9_223_372_036_854_775_808_u64, "generation": 1.5}),
                json!({}),
            ),
            (
                json!({"deletionGracePeriodSeconds": 5.0, "managedFields": "x"}),
                json!({"deletionGracePeriodSeconds": 5}),
            ),
            (json!({"name": 5, "namespace": "n"}), json!({"namespace": "n"})),
            (json!("x"), json!("x")),
        ];
        for (sent, want) in table {
            let mut object = Map::new();
            object.insert("metadata".to_owned(), sent.clone());
            drop_malformed_metadata(&mut object);
            assert_eq!(object["metadata"], want, "{sent}");
        }
    }
}
