//! Inventories from Secrets and status: what to apply, release and delete.

use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use kube::api::ObjectMeta;
use rstest::rstest;
use serde_json::json;

use super::super::checksum::Checksum;
use super::*;

fn secret(name: &str, data: &[(&str, &str)]) -> Secret {
    let metadata = ObjectMeta { namespace: Some("ns".into()), name: Some(name.into()), ..Default::default() };
    let data = data.iter().map(|(key, value)| ((*key).into(), ByteString(value.as_bytes().into())));
    Secret { metadata, data: Some(data.collect()), ..Default::default() }
}

/// `apps/v1/Deployment/ns/name` as the status lists it, with these labels and those of every object.
fn listed(text: &str, labels: &[(&str, &str)]) -> ObjectReference {
    let (rest, name) = text.rsplit_once('/').unwrap();
    let (rest, namespace) = rest.rsplit_once('/').unwrap();
    let (api_version, kind) = rest.rsplit_once('/').unwrap();
    let labels = labels.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
    ObjectReference {
        api_version: api_version.into(),
        kind: kind.into(),
        namespace: namespace.into(),
        name: name.into(),
        labels: labels.chain([(api::resources::MANAGED_BY.to_owned(), "gardener".to_owned())]).collect(),
        ..Default::default()
    }
}

fn scope(kind: &GroupVersionKind) -> Option<KindScope> {
    match kind.kind.as_str() {
        "ConfigMap" | "Secret" | "Deployment" => Some(KindScope::Namespaced),
        "Namespace" | "ClusterRole" => Some(KindScope::Cluster),
        _ => None,
    }
}

fn taken(resources: &[ObjectReference], secrets: &[Secret]) -> Inventory {
    let mut object = ManagedResource::default();
    object.status.resources = resources.to_vec();
    Inventory::compute(&object, Manifests::read(secrets), "gardener", scope)
}

const CONFIG_MAP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";

#[test]
fn without_manifests_nothing_is_wanted() {
    let wanted = Inventory { checksum: Checksum::default().finish(), ..Default::default() };
    assert_eq!(taken(&[], &[]), wanted);
}

#[test]
fn objects_are_read_secret_by_secret_and_applied_in_their_order() {
    let role = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: r, namespace: ns, labels: {x: v}}\n";
    let text = format!("{CONFIG_MAP}---\n{role}");
    let got = taken(
        &[],
        &[
            secret("one", &[("k", &text)]),
            secret("two", &[("k", "kind: Namespace\napiVersion: v1\nmetadata: {name: b}")]),
        ],
    );
    let location = |secret: &str, index| ManifestLocation {
        namespace: "ns".into(),
        secret: secret.into(),
        key: "k".into(),
        index,
    };
    let wanted = |object, location| WantedObject { object, location, applied: ObjectReference::default() };
    let mut checksum = Checksum::default();
    checksum.feed(text.as_bytes());
    checksum.feed(text.as_bytes());
    checksum.feed(b"kind: Namespace\napiVersion: v1\nmetadata: {name: b}");
    let all = Inventory {
        wanted: vec![
            wanted(
                json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "b"}}),
                location("two", 0),
            ),
            wanted(
                json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "default"}}),
                location("one", 0),
            ),
            wanted(
                json!({
                    "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
                    "metadata": {"name": "r", "labels": {"x": "v"}},
                }),
                location("one", 1),
            ),
        ],
        references: vec![
            listed("v1/ConfigMap/default/a", &[]),
            listed("v1/Namespace//b", &[]),
            listed("rbac.authorization.k8s.io/v1/ClusterRole//r", &[("x", "v")]),
        ],
        checksum: checksum.finish(),
        ..Default::default()
    };
    assert_eq!(got, all);
}

/// Kind, namespace in the manifest, resulting namespace.
#[rstest]
#[case::namespaced("ConfigMap", None, Some("default"))]
#[case::namespaced_given("ConfigMap", Some("x"), Some("x"))]
#[case::cluster("ClusterRole", None, None)]
#[case::cluster_given("ClusterRole", Some("x"), None)]
#[case::unknown("Thing", None, Some("default"))]
#[case::unknown_given("Thing", Some("x"), Some("x"))]
fn namespaces_are_completed(#[case] kind: &str, #[case] given: Option<&str>, #[case] wanted: Option<&str>) {
    let mut object = json!({"apiVersion": "v1", "kind": kind, "metadata": {"name": "a"}});
    if let Some(given) = given {
        object["metadata"]["namespace"] = json!(given);
    }
    let got = taken(&[], &[secret("s", &[("k", &object.to_string())])]);
    assert_eq!(got.wanted[0].object["metadata"].get("namespace").and_then(Value::as_str), wanted);
}

#[rstest]
#[case::unknown_namespace(json!({"kind": "Namespace", "metadata": {"name": "a"}}), json!({"name": "a"}))]
#[case::without_kind(json!({"metadata": {"name": "a"}}), json!({"name": "a", "namespace": "default"}))]
#[case::without_metadata(json!({"kind": "ConfigMap"}), json!({"namespace": "default"}))]
#[case::odd_version(json!({"apiVersion": "a/b/c", "kind": "ClusterRole"}), json!({"namespace": "default"}))]
fn an_unknown_kind_counts_as_namespaced(#[case] object: Value, #[case] wanted: Value) {
    let unknown = |kind: &GroupVersionKind| scope(kind).filter(|_| kind.kind != "Namespace");
    let secrets = [secret("s", &[("k", &object.to_string())])];
    let got = Inventory::compute(&ManagedResource::default(), Manifests::read(&secrets), "gardener", unknown);
    assert_eq!(got.wanted[0].object["metadata"], wanted);
}

#[test]
fn labels_are_listed_with_those_injected_and_annotations_as_described() {
    let mut object = ManagedResource::default();
    let inject = [("a", "injected"), (api::resources::MANAGED_BY, "me")];
    object.spec.inject_labels = Some(inject.map(|(key, value)| (key.into(), value.into())).into());
    let text = "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"a\",\"labels\":{\"a\":\"own\",\"b\":\"own\"},\"annotations\":{\"c\":\"d\"}}}";
    let got = Inventory::compute(&object, Manifests::read(&[secret("s", &[("k", text)])]), "gardener", scope);
    let wanted = ObjectReference {
        annotations: [("c".to_owned(), "d".to_owned())].into(),
        ..listed("v1/ConfigMap/default/a", &[("a", "injected"), ("b", "own")])
    };
    assert_eq!(got.references, [wanted]);
    assert_eq!(got.wanted[0].object["metadata"]["labels"], json!({"a": "own", "b": "own"}));
}

#[test]
fn applied_objects_are_found_and_the_rest_is_unwanted() {
    let known = [
        listed("v1/ConfigMap/default/a", &[("old", "1")]),
        listed("v1/ConfigMap/default/gone", &[]),
        listed("v1/Secret/ns/gone", &[]),
    ];
    let got = taken(&known, &[secret("s", &[("k", CONFIG_MAP)])]);
    assert_eq!(got.wanted[0].applied, known[0]);
    assert_eq!(got.unwanted, known[1..]);
    assert_eq!(got.references, [listed("v1/ConfigMap/default/a", &[])]);
}

#[test]
fn equivalent_kinds_are_one_object() {
    let known =
        [listed("extensions/v1beta1/Ingress/default/a", &[]), listed("old.org/v1/Thing/default/a", &[])];
    let mut object = ManagedResource::default();
    object.status.resources = known.to_vec();
    let kind = |group: &str| super::super::GroupKind { group: group.into(), kind: "Thing".into() };
    object.spec.equivalences = vec![vec![kind("old.org"), kind("new.org")]];
    let text = "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: a}\n---\napiVersion: new.org/v1\nkind: Thing\nmetadata: {name: a}\n";
    let got = Inventory::compute(&object, Manifests::read(&[secret("s", &[("k", text)])]), "gardener", scope);
    let applied: Vec<_> = got.wanted.iter().map(|wanted| wanted.applied.clone()).collect();
    assert_eq!((applied, got.unwanted), (known.to_vec(), vec![]));
}

#[rstest]
#[case::known(&[listed("v1/ConfigMap/default/a", &[])], &[listed("v1/ConfigMap/default/a", &[("x", "v")])])]
#[case::unknown(&[], &[])]
fn released_objects_are_not_applied_deleted_or_part_of_the_checksum(
    #[case] known: &[ObjectReference],
    #[case] orphans: &[ObjectReference],
) {
    let text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, labels: {x: v}, annotations: {resources.gardener.cloud/mode: Ignore}}";
    let got = taken(known, &[secret("s", &[("k", text)])]);
    let annotations = [("resources.gardener.cloud/mode".to_owned(), "Ignore".to_owned())];
    let orphans = orphans
        .iter()
        .map(|orphan| ObjectReference { annotations: annotations.clone().into(), ..orphan.clone() });
    let wanted = Inventory {
        orphans: orphans.collect(),
        checksum: Checksum::default().finish(),
        ..Default::default()
    };
    assert_eq!(got, wanted);
}

#[test]
fn unreadable_documents_are_listed_with_the_unwanted_objects() {
    let known = [listed("v1/ConfigMap/default/a", &[]), listed("v1/ConfigMap/default/b", &[])];
    let got = taken(&known, &[secret("s", &[("a", CONFIG_MAP), ("b", "- broken")])]);
    assert_eq!((got.wanted.len(), got.unwanted.as_slice(), got.errors.len()), (1, &known[1..], 1));
    assert_eq!(
        got.errors[0].location,
        ManifestLocation { namespace: "ns".into(), secret: "s".into(), key: "b".into(), index: 0 }
    );
    let mut checksum = Checksum::default();
    checksum.feed(CONFIG_MAP.as_bytes());
    assert_eq!(got.checksum, checksum.finish());
}

#[test]
fn of_two_manifests_of_one_object_the_last_counts_and_the_other_is_listed() {
    let again = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: default, labels: {x: v}}\n";
    let got = taken(&[], &[secret("s", &[("a", CONFIG_MAP), ("b", again)])]);
    let labels: Vec<_> = got.wanted.iter().map(|wanted| labels(&wanted.object)).collect();
    assert_eq!(labels, [BTreeMap::from([("x".to_owned(), "v".to_owned())])]);
    assert_eq!(got.references, [listed("v1/ConfigMap/default/a", &[("x", "v")])]);
    let messages: Vec<_> = got.duplicates.iter().map(ToString::to_string).collect();
    let wanted = "\"v1/ConfigMap/default/a\" at index 0 in 'a' in secret 'ns/s' is described again at index 0 in 'b' in secret 'ns/s'";
    assert_eq!(messages, [wanted]);
}
