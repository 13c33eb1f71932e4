//! Rules for every kind: metadata, labels, annotations, status.

use rstest::rstest;

use super::*;

fn pod() -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": "foo-abcdef", "namespace": "bar", "generateName": "foo", "generation": 42,
            "resourceVersion": "123", "uid": "8c3d", "finalizers": ["finalizer"],
            "creationTimestamp": "2024-06-01T12:00:00Z", "deletionTimestamp": "2024-06-01T14:00:00Z",
            "deletionGracePeriodSeconds": 30,
            "ownerReferences": [{"apiVersion": "v1", "kind": "Namespace", "name": "default", "uid": "1859"}],
            "managedFields": [{"manager": "somebody"}],
        },
        "spec": {"nodeName": "a"},
    })
}

#[rstest]
#[case::null(json!(null))]
#[case::absent(json!({}))]
#[case::another(json!({"name": "foo-abcdef", "finalizers": ["wanted"], "ownerReferences": [], "resourceVersion": "7"}))]
fn the_live_metadata_stays(#[case] metadata: Value) {
    let desired = json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"nodeName": "b"}});
    let mut wanted = annotated(pod(), json!({}));
    wanted["spec"]["nodeName"] = json!("b");
    assert_eq!(merged(&desired, &pod(), |_| {}), wanted);
}

#[test]
fn the_manifests_metadata_counts_where_the_live_object_has_none() {
    let desired = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "finalizers": ["x"]}});
    let live = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {}});
    assert_eq!(merged(&desired, &live, |_| {}), annotated(desired.clone(), json!({})));
}

/// Live, desired, applied before, enforced, and the result.
#[rstest]
#[case::added(json!({"a": "1"}), json!({"b": "2"}), &[("x", "ignored")], false, json!({"a": "1", "b": "2"}))]
#[case::overlaid(json!({"a": "1"}), json!({"a": "2"}), &[], false, json!({"a": "2"}))]
#[case::removed(json!({"a": "1"}), json!({"b": "2"}), &[("a", "1")], false, json!({"b": "2"}))]
#[case::changed_by_others(json!({"a": "9"}), json!({"b": "2"}), &[("a", "1")], false, json!({"a": "9", "b": "2"}))]
#[case::applied_and_still_wanted(json!({"a": "1"}), json!({"a": "2"}), &[("a", "1")], false, json!({"a": "2"}))]
#[case::changed_and_still_wanted(json!({"a": "9"}), json!({"a": "1"}), &[("a", "1")], false, json!({"a": "1"}))]
#[case::gone_already(json!({}), json!({"b": "2"}), &[("a", "1")], false, json!({"b": "2"}))]
#[case::forced(json!({"a": "1"}), json!({"b": "2"}), &[("x", "ignored")], true, json!({"b": "2"}))]
#[case::forced_empty(json!({"a": "1"}), json!({}), &[], true, json!({}))]
#[case::forced_absent(json!({"a": "1"}), json!(null), &[], true, json!(null))]
#[case::none_left(json!({"a": "1"}), json!(null), &[("a", "1")], false, json!(null))]
#[case::none_at_all(json!(null), json!({}), &[], false, json!(null))]
#[case::no_texts(json!({"a": 1, "b": "2"}), json!({"c": true, "d": "4"}), &[], false, json!({"b": "2", "d": "4"}))]
#[case::no_map(json!("a"), json!(["b"]), &[], false, json!(null))]
fn labels_are_merged_three_ways(
    #[case] live: Value,
    #[case] desired: Value,
    #[case] applied: &[(&str, &str)],
    #[case] force: bool,
    #[case] wanted: Value,
) {
    let object = |labels: Value| json!({"metadata": {"name": "a", "labels": labels}});
    let applied = applied.iter().map(|(key, value)| ((*key).into(), (*value).into()));
    let applied = ObjectReference { labels: applied.collect(), ..Default::default() };
    let inject = BTreeMap::new();
    let rules = Rules {
        origin: ORIGIN,
        inject: &inject,
        force_overwrite: Overwrite { labels: force, annotations: false },
        applied: &applied,
        preserve: Preserve::default(),
    };
    let got = merge(&rules, object(desired), &object(live)).expect("no kind, no rules");
    assert_eq!(got["metadata"]["labels"], wanted);
    assert_eq!(got["metadata"].get("labels").is_none(), wanted.is_null());
}

const REFERENCE: &str = "reference.resources.gardener.cloud/secret-1234";

/// Live, desired, applied before, enforced, and the result.
#[rstest]
#[case::added(json!({"a": "1"}), json!({"b": "2"}), &[("x", "ignored")], false, json!({"a": "1", "b": "2"}))]
#[case::removed(json!({"a": "1"}), json!({"b": "2"}), &[("a", "1")], false, json!({"b": "2"}))]
#[case::changed_by_others(json!({"a": "9"}), json!({"b": "2"}), &[("a", "1")], false, json!({"a": "9", "b": "2"}))]
#[case::forced(json!({"a": "1"}), json!({"b": "2"}), &[("x", "ignored")], true, json!({"b": "2"}))]
#[case::old_reference(json!({REFERENCE: "old", "a": "1"}), json!({}), &[], false, json!({"a": "1"}))]
#[case::same_reference(json!({REFERENCE: "old"}), json!({REFERENCE: "new"}), &[], false, json!({REFERENCE: "new"}))]
#[case::none(json!(null), json!(null), &[], false, json!({}))]
#[case::none_forced(json!({"a": "1"}), json!(null), &[], true, json!({}))]
#[case::edited(json!({api::resources::DESCRIPTION: "mine", api::resources::ORIGIN: "else"}), json!(null), &[], false, json!({}))]
#[case::wanted_otherwise(json!({}), json!({api::resources::ORIGIN: "else"}), &[], true, json!({}))]
fn annotations_are_merged_three_ways_without_references_and_say_whose_the_object_is(
    #[case] live: Value,
    #[case] desired: Value,
    #[case] applied: &[(&str, &str)],
    #[case] force: bool,
    #[case] wanted: Value,
) {
    let object = |annotations: Value| json!({"metadata": {"name": "a", "annotations": annotations}});
    let applied = applied.iter().map(|(key, value)| ((*key).into(), (*value).into()));
    let applied = ObjectReference { annotations: applied.collect(), ..Default::default() };
    let inject = BTreeMap::new();
    let rules = Rules {
        origin: ORIGIN,
        inject: &inject,
        force_overwrite: Overwrite { labels: false, annotations: force },
        applied: &applied,
        preserve: Preserve::default(),
    };
    let got = merge(&rules, object(desired), &object(live)).expect("no kind, no rules");
    assert_eq!(got, annotated(json!({"metadata": {"name": "a"}}), wanted));
}

#[rstest]
#[case::kept(json!({"podIP": "1.1.1.1"}), json!({"podIP": "2.2.2.2"}), Some(json!({"podIP": "1.1.1.1"})))]
#[case::empty(json!({}), json!({"podIP": "2.2.2.2"}), None)]
#[case::no_map(json!("x"), json!({"podIP": "2.2.2.2"}), None)]
#[case::not_wanted(json!({"podIP": "1.1.1.1"}), json!(null), Some(json!({"podIP": "1.1.1.1"})))]
fn the_status_is_the_live_one(#[case] live: Value, #[case] desired: Value, #[case] wanted: Option<Value>) {
    let object = |status: Value| json!({"kind": "Pod", "status": status});
    assert_eq!(merged(&object(desired), &object(live), |_| {}).get("status"), wanted.as_ref());
}

#[test]
fn an_absent_status_stays_absent() {
    let got = merged(&json!({"status": {"podIP": "2.2.2.2"}}), &json!({"kind": "Pod"}), |_| {});
    assert_eq!(got.get("status"), None);
}

#[test]
fn other_kinds_are_as_the_manifest_says() {
    let desired =
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"x": "1"}});
    let live = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"y": "1"}, "immutable": true});
    assert_eq!(merged(&desired, &live, |_| {}), annotated(desired.clone(), json!({})));
}
