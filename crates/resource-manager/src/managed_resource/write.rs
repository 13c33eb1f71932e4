//! Compares an object with its manifest, and computes the write.

use serde_json::Value;

use super::ObjectReference;
use super::annotation::is_ignored;
use super::equality::{Strictness, is_unchanged};
use super::inject::{InjectError, inject_labels};
use super::merge::{MergeError, Rules, is_typed, merge};
use super::unstructured::put;

/// The write of an object.
#[derive(Clone, Debug, PartialEq)]
pub enum ObjectWrite {
    /// None, because nothing differs.
    Nothing,
    /// Create the object.
    Create(Value),
    /// Replace the object. It has the live object's `resourceVersion`, so the API server detects conflicts.
    Update(Value),
}

/// Why the write cannot be computed; the texts are the original's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WriteError {
    /// Labels cannot be injected into the manifest.
    #[error("error injecting labels into object \"{object}\": {source}")]
    Inject {
        /// The object's name in messages.
        object: String,
        /// What is wrong.
        source: InjectError,
    },
    /// The manifest and the live object cannot be merged.
    #[error(transparent)]
    Merge(#[from] MergeError),
}

/// GRM-MR-030, GRM-MR-031 and GRM-MR-038: compares a manifest with the live object. With `always`, an existing object
/// is written even if nothing differs.
///
/// # Errors
/// When the manifest is invalid.
pub fn write(
    rules: &Rules<'_>,
    manifest: &Value,
    live: Option<&Value>,
    always: bool,
) -> Result<ObjectWrite, WriteError> {
    let wanted = if is_ignored(manifest) {
        without_description(live.unwrap_or(manifest))
    } else {
        merged(rules, manifest, live)?
    };
    let Some(live) = live else { return Ok(ObjectWrite::Create(wanted)) };
    let strictness = if is_typed(manifest) { Strictness::Typed } else { Strictness::Values };
    if !always && is_unchanged(live, &wanted, strictness) {
        return Ok(ObjectWrite::Nothing);
    }
    Ok(ObjectWrite::Update(wanted))
}

/// GRM-MR-084: removes the description from an ignored object, which users may edit.
fn without_description(object: &Value) -> Value {
    let mut object = object.clone();
    let path = ["metadata", "annotations", api::resources::DESCRIPTION];
    put(&mut object, &path, None);
    object
}

fn merged(rules: &Rules<'_>, manifest: &Value, live: Option<&Value>) -> Result<Value, WriteError> {
    let mut desired = manifest.clone();
    inject_labels(&mut desired, rules.inject).map_err(|source| {
        let object = ObjectReference::to(manifest).described();
        WriteError::Inject { object, source }
    })?;
    // For a new object, the manifest without injected labels counts as live.
    Ok(merge(rules, desired, live.unwrap_or(manifest))?)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use rstest::rstest;
    use serde_json::json;

    use super::*;
    use crate::managed_resource::annotation::DESCRIPTION;
    use crate::managed_resource::merge::{Overwrite, Preserve};

    fn computed_write(
        manifest: &Value,
        live: Option<&Value>,
        always: bool,
    ) -> Result<ObjectWrite, WriteError> {
        let inject = BTreeMap::from([("injected".to_owned(), "yes".to_owned())]);
        let applied = ObjectReference::default();
        let rules = Rules {
            origin: "ns/mr",
            inject: &inject,
            force_overwrite: Overwrite::default(),
            applied: &applied,
            preserve: Preserve::default(),
        };
        write(&rules, manifest, live, always)
    }

    fn manifest() -> Value {
        json!({
            "apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "1"}, "status": {"b": 2},
            "metadata": {"name": "a", "namespace": "ns", "labels": {"own": "1"}, "finalizers": ["x"]},
        })
    }

    fn live() -> Value {
        json!({
            "apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "1"},
            "metadata": {
                "name": "a", "namespace": "ns", "uid": "u", "resourceVersion": "7",
                "labels": {"own": "1", "injected": "yes"},
                "annotations": {api::resources::DESCRIPTION: DESCRIPTION, api::resources::ORIGIN: "ns/mr"},
            },
        })
    }

    #[test]
    fn a_missing_object_is_created_with_finalizers_and_status() {
        let mut wanted = manifest();
        wanted["metadata"]["labels"]["injected"] = json!("yes");
        wanted["metadata"]["annotations"] =
            json!({api::resources::DESCRIPTION: DESCRIPTION, api::resources::ORIGIN: "ns/mr"});
        assert_eq!(computed_write(&manifest(), None, false), Ok(ObjectWrite::Create(wanted)));
    }

    #[test]
    fn an_unchanged_object_is_only_written_with_always() {
        assert_eq!(computed_write(&manifest(), Some(&live()), false), Ok(ObjectWrite::Nothing));
        assert_eq!(computed_write(&manifest(), Some(&live()), true), Ok(ObjectWrite::Update(live())));
    }

    #[rstest]
    #[case::changed("/data/a", json!("2"))]
    #[case::added("/data", json!({"a": "1", "b": "2"}))]
    #[case::label("/metadata/labels/own", json!("2"))]
    #[case::injected_label("/metadata/labels/injected", json!("no"))]
    #[case::annotation("/metadata/annotations", json!({}))]
    fn changes_by_others_are_reverted(#[case] path: &str, #[case] value: Value) {
        let mut changed = live();
        *changed.pointer_mut(path).expect("it is there") = value;
        assert_eq!(computed_write(&manifest(), Some(&changed), false), Ok(ObjectWrite::Update(live())));
    }

    #[test]
    fn metadata_added_by_others_stays() {
        let mut touched = live();
        touched["metadata"]["labels"]["theirs"] = json!("1");
        touched["metadata"]["ownerReferences"] = json!([{"name": "x"}]);
        touched["status"] = json!({"b": 3});
        assert_eq!(computed_write(&manifest(), Some(&touched), false), Ok(ObjectWrite::Nothing));
    }

    fn ignored(mut object: Value) -> Value {
        object["metadata"]["annotations"][api::resources::IGNORE] = json!("true");
        object
    }

    #[test]
    fn an_ignored_manifest_is_created_unchanged() {
        assert_eq!(
            computed_write(&ignored(manifest()), None, false),
            Ok(ObjectWrite::Create(ignored(manifest())))
        );
    }

    #[test]
    fn an_ignored_object_loses_its_description_and_nothing_else() {
        let mut touched = live();
        touched["data"]["a"] = json!("theirs");
        let mut wanted = touched.clone();
        wanted["metadata"]["annotations"] = json!({api::resources::ORIGIN: "ns/mr"});
        assert_eq!(
            computed_write(&ignored(manifest()), Some(&touched), false),
            Ok(ObjectWrite::Update(wanted.clone()))
        );
        assert_eq!(computed_write(&ignored(manifest()), Some(&wanted), false), Ok(ObjectWrite::Nothing));
    }

    #[test]
    fn null_is_no_change_for_a_typed_kind() {
        let mut account = live();
        account["kind"] = json!("ServiceAccount");
        let mut wanted = account.clone();
        wanted["automountServiceAccountToken"] = json!(null);
        assert_eq!(computed_write(&wanted, Some(&account), false), Ok(ObjectWrite::Nothing));
        (account["kind"], wanted["kind"]) = (json!("ConfigMap"), json!("ConfigMap"));
        assert_eq!(computed_write(&wanted, Some(&account), false), Ok(ObjectWrite::Update(wanted)));
    }

    #[test]
    fn labels_that_cannot_be_injected_are_an_error() {
        let manifest = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"}, "spec": "x"});
        let wanted = "error injecting labels into object \"v1/Node/default/a\": .spec.template accessor error: x is of \
                      the type string, expected map[string]interface{}";
        assert_eq!(
            computed_write(&manifest, None, false).map_err(|error| error.to_string()),
            Err(wanted.to_owned())
        );
    }
}
