//! The annotations of the original (v1.82.0) on the same objects.

use rstest::rstest;
use serde_json::json;

use super::*;

const PREFIX: &str = "reference.resources.gardener.cloud";

fn metadata() -> Value {
    json!({"name": "w", "annotations": {"own": "kept", "reference.resources.gardener.cloud/configmap-1234567": "stale"}})
}

fn pod_spec() -> Value {
    json!({
        "containers": [{
            "name": "a",
            "envFrom": [{"secretRef": {"name": "env-from-secret"}}, {"configMapRef": {"name": "env-from-cm"}}],
            "env": [
                {"name": "X", "valueFrom": {"secretKeyRef": {"name": "env-secret", "key": "k"}}},
                {"name": "Y", "valueFrom": {"configMapKeyRef": {"name": "env-cm", "key": "k"}}},
                {"name": "Z", "value": "plain"},
            ],
        }],
        "initContainers": [{"name": "i", "envFrom": [{"secretRef": {"name": "init-secret"}}]}],
        "imagePullSecrets": [{"name": "pull"}],
        "volumes": [
            {"name": "1", "secret": {"secretName": "vol-secret"}},
            {"name": "2", "configMap": {"name": "vol-cm"}},
            {"name": "3", "projected": {"sources": [
                {"secret": {"name": "proj-secret"}},
                {"configMap": {"name": "proj-cm"}},
                {"serviceAccountToken": {"path": "t"}},
            ]}},
            {"name": "4", "emptyDir": {}},
            {"name": "5", "secret": {}},
        ],
    })
}

/// All annotations that the original sets; `more` are those for `additional`.
fn annotations(more: &[(&str, &str)]) -> Value {
    let found = [
        ("configmap-2d365169", "env-cm"),
        ("configmap-34c02554", "proj-cm"),
        ("configmap-983b7566", "vol-cm"),
        ("configmap-b1ded541", "env-from-cm"),
        ("secret-28030339", "env-from-secret"),
        ("secret-30790410", "env-secret"),
        ("secret-33d5dcaf", "vol-secret"),
        ("secret-aef6aa6a", "proj-secret"),
        ("secret-c5f5571c", "pull"),
        ("secret-e3b0c442", ""),
    ];
    let keyed = |(key, name): (&str, &str)| (format!("{PREFIX}/{key}"), Value::from(name));
    let own = [("own".to_owned(), Value::from("kept"))];
    let more = more.iter().map(|(key, value)| ((*key).to_owned(), Value::from(*value)));
    Value::Object(own.into_iter().chain(found.map(keyed)).chain(more).collect())
}

#[rstest]
#[case(ReferencedKind::Secret, "a", "secret-ca978112")]
#[case(ReferencedKind::ConfigMap, "vol-cm", "configmap-983b7566")]
#[case(ReferencedKind::Secret, "", "secret-e3b0c442")]
#[case(ReferencedKind::Secret, "ä", "secret-33e6d73f")]
#[case(
    ReferencedKind::ConfigMap,
    "a-very-long-name-of-a-config-map-with-a-hash-1a2b3c4d",
    "configmap-0a17f840"
)]
fn keys_are_those_of_the_original(#[case] kind: ReferencedKind, #[case] name: &str, #[case] key: &str) {
    assert_eq!(annotation_key(kind, name), format!("{PREFIX}/{key}"));
    assert_eq!(kind_of_annotation(&annotation_key(kind, name)), Some(kind));
}

#[rstest]
#[case("reference.resources.gardener.cloud/secret-", Some(ReferencedKind::Secret))]
#[case("reference.resources.gardener.cloud/secret", None)]
#[case("reference.resources.gardener.cloud/secret-1-2", None)]
#[case("reference.resources.gardener.cloud/Secret-1", None)]
#[case("reference.resources.gardener.cloud/pod-1", None)]
#[case("foobar/secret-1", None)]
fn other_keys_refer_to_nothing(#[case] key: &str, #[case] kind: Option<ReferencedKind>) {
    assert_eq!(kind_of_annotation(key), kind);
}

#[rstest]
#[case("v1", "Pod", &[""])]
#[case("apps/v1", "Deployment", &["", "/spec/template"])]
#[case("apps/v1beta2", "Deployment", &["", "/spec/template"])]
#[case("apps/v1beta1", "Deployment", &["", "/spec/template"])]
#[case("apps/v1", "StatefulSet", &["", "/spec/template"])]
#[case("apps/v1beta2", "StatefulSet", &["", "/spec/template"])]
#[case("apps/v1beta1", "StatefulSet", &["", "/spec/template"])]
#[case("apps/v1", "DaemonSet", &["", "/spec/template"])]
#[case("apps/v1beta2", "DaemonSet", &["", "/spec/template"])]
#[case("batch/v1", "Job", &["", "/spec/template"])]
#[case("batch/v1", "CronJob", &["", "/spec/jobTemplate", "/spec/jobTemplate/spec/template"])]
#[case("batch/v1beta1", "CronJob", &["", "/spec/jobTemplate", "/spec/jobTemplate/spec/template"])]
fn the_object_and_its_templates_list_what_the_pod_uses(
    #[case] version: &str,
    #[case] kind: &str,
    #[case] places: &[&str],
) {
    let pod = json!({"metadata": metadata(), "spec": pod_spec()});
    let (mut object, innermost) = match places.len() {
        1 => (pod, ""),
        2 => (json!({"metadata": metadata(), "spec": {"template": pod}}), "/spec/template"),
        _ => {
            let job = json!({"metadata": metadata(), "spec": {"template": pod}});
            let object = json!({"metadata": metadata(), "spec": {"jobTemplate": job}});
            (object, "/spec/jobTemplate/spec/template")
        }
    };
    object["apiVersion"] = version.into();
    object["kind"] = kind.into();
    let more = annotation_key(ReferencedKind::Secret, "more");
    let pull = annotation_key(ReferencedKind::Secret, "pull");
    for additional in [vec![], vec!["foo".to_owned(), more.clone(), pull.clone()]] {
        let mut wanted = object.clone();
        let extra: Vec<(&str, &str)> = additional.iter().map(|key| (key.as_str(), "")).collect();
        for place in places {
            wanted.pointer_mut(place).unwrap()["metadata"]["annotations"] = annotations(&extra);
        }
        let mut got = object.clone();
        inject_annotations(&mut got, &additional).unwrap();
        assert_eq!(got, wanted);
        inject_annotations(&mut got, &additional).unwrap();
        assert_eq!(got, wanted, "a second time");
    }
    assert_eq!(object.pointer(innermost).unwrap()["spec"], pod_spec());
}

#[test]
fn a_managed_resource_refers_to_its_secrets() {
    let object = |annotations: Value| {
        json!({
            "apiVersion": "resources.gardener.cloud/v1alpha1", "kind": "ManagedResource",
            "metadata": {"name": "w", "annotations": annotations},
            "spec": {"secretRefs": [{"name": "mr-1"}, {"name": "mr-2"}]},
        })
    };
    let mut got = object(metadata()["annotations"].take());
    inject_annotations(&mut got, &["foo".to_owned()]).unwrap();
    let (one, two) = (format!("{PREFIX}/secret-fd2cab5e"), format!("{PREFIX}/secret-ea0809f0"));
    assert_eq!(got, object(json!({"own": "kept", "foo": "", one: "mr-1", two: "mr-2"})));
}

#[test]
fn an_object_that_uses_nothing_gets_no_annotations() {
    let mut got = json!({"apiVersion": "apps/v1", "kind": "Deployment"});
    inject_annotations(&mut got, &[]).unwrap();
    let want = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {}, "spec": {"template": {"metadata": {}}}});
    assert_eq!(got, want);
}

#[rstest]
#[case(json!({"apiVersion": "apps/v1", "kind": "ReplicaSet"}), "unhandled object type ReplicaSet of \"apps/v1\"")]
#[case(json!("text"), "unhandled object type  of \"\"")]
#[case(json!({"apiVersion": "v1", "kind": "Pod", "metadata": 1}), "failed to annotate: metadata is not an object")]
#[case(json!({"apiVersion": "batch/v1", "kind": "Job", "spec": {"template": []}}), "failed to annotate: spec.template is not an object")]
fn other_kinds_and_broken_objects_are_refused(#[case] mut object: Value, #[case] message: &str) {
    assert_eq!(inject_annotations(&mut object, &[]).unwrap_err().to_string(), message);
}
